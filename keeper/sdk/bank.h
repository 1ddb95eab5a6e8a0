#pragma once

#include <set>
#include <string>
#include <string_view>

#include "keeper/sdk/auth.h"
#include "keeper/sdk/context.h"
#include "keeper/sdk/error.h"
#include "keeper/sdk/int.h"

namespace blockreplay::keeper::sdk {

// x/bank: balances, their index by denomination, supply. Reads, writes and events in the order of
// cosmos-sdk v0.53. Addresses are raw bytes.
class BankKeeper {
 public:
  // `blocked`: raw addresses that SendCoinsFromModuleToAccount refuses.
  BankKeeper(StoreId store, const AuthKeeper* auth, std::set<std::string, std::less<>> blocked);

  Coin GetBalance(const Context& context, std::string_view address, const std::string& denom) const;
  // Sorted by denomination.
  Coins GetAllBalances(const Context& context, std::string_view address) const;
  Coin GetSupply(const Context& context, const std::string& denom) const;

  Error SendCoins(const Context& context, std::string_view from, std::string_view to,
                  const Coins& coins) const;
  Error SendCoinsFromModuleToAccount(const Context& context, std::string_view from_module,
                                     std::string_view to, const Coins& coins) const;
  Error SendCoinsFromModuleToModule(const Context& context, std::string_view from_module,
                                    std::string_view to_module, const Coins& coins) const;
  Error SendCoinsFromAccountToModule(const Context& context, std::string_view from,
                                     std::string_view to_module, const Coins& coins) const;
  // Panic without the module's permission.
  Error MintCoins(const Context& context, std::string_view module, const Coins& coins) const;
  Error BurnCoins(const Context& context, std::string_view module, const Coins& coins) const;

 private:
  Error SubtractUnlocked(const Context& context, std::string_view address,
                         const Coins& coins) const;
  Error Add(const Context& context, std::string_view address, const Coins& coins) const;
  Error SetBalance(const Context& context, std::string_view address, const Coin& balance) const;
  void SetSupply(const Context& context, const Coin& supply) const;

  StoreId store_;
  const AuthKeeper* auth_;
  std::set<std::string, std::less<>> blocked_;
};

}  // namespace blockreplay::keeper::sdk
