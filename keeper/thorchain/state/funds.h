#pragma once

// RUNE and other native assets of modules and accounts.

#include <string_view>

#include "keeper/thorchain/keeper.h"
#include "keeper/thorchain/modules.h"

namespace blockreplay::keeper::thorchain {

// Each coin under the bank's name of its asset, in the order given.
sdk::Coins ToBankCoins(const Coins& coins);

Error SendFromModuleToModule(const Keeper& k, const Context& ctx, std::string_view from,
                             std::string_view to, const Coins& coins);
Error SendFromAccountToModule(const Keeper& k, const Context& ctx, const AccAddress& from,
                              std::string_view to, const Coins& coins);
Error SendFromModuleToAccount(const Keeper& k, const Context& ctx, std::string_view from,
                              const AccAddress& to, const Coins& coins);

AccAddress ModuleAccAddress(const Keeper& k, std::string_view module);
Address ModuleAddress(const Keeper& k, std::string_view module);
// One of the modules that plain sends must not reach.
bool IsModuleAccAddress(const Keeper& k, const AccAddress& address);
Uint GetBalanceOfModule(const Keeper& k, const Context& ctx, std::string_view module,
                        const std::string& denom);
Uint GetRuneBalanceOfModule(const Keeper& k, const Context& ctx, std::string_view module);
// All balances reach `coins`.
bool HasCoins(const Keeper& k, const Context& ctx, const AccAddress& address,
              const sdk::Coins& coins);

// Of RUNE at most as much as mimir MaxRuneSupply leaves room for; the rest comes from the reserve.
Error MintToModule(const Keeper& k, const Context& ctx, std::string_view module, Coin coin);
Error BurnFromModule(const Keeper& k, const Context& ctx, std::string_view module,
                     const Coin& coin);
// By way of the thorchain module.
Error MintAndSendToAccount(const Keeper& k, const Context& ctx, const AccAddress& to,
                           const Coin& coin);
Uint GetBalanceOf(const Keeper& k, const Context& ctx, const AccAddress& address,
                  const Asset& asset);
// Zero while the asset's pool is being wound down.
Uint GetTotalSupply(const Keeper& k, const Context& ctx, const Asset& asset);

// What a transaction of a user costs.
Uint GetNativeTxFee(const Keeper& k, const Context& ctx);
// Takes that fee to the reserve.
Error DeductNativeTxFee(const Keeper& k, const Context& ctx, const AccAddress& account);

}  // namespace blockreplay::keeper::thorchain
