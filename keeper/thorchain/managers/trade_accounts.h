#pragma once

// The trade account manager: shares of assets that stay in the vaults.

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

// What `owner` could withdraw.
Uint TradeAccountBalance(const Keeper& k, const Context& ctx, const Asset& asset,
                         const AccAddress& owner);
// Both return what was credited or taken, and emit an event with the other chain's address.
Result<Uint> DepositToTradeAccount(const Keeper& k, const Context& ctx, const Asset& asset,
                                   const Uint& amount, const AccAddress& owner,
                                   const Address& asset_address, const TxID& tx_id);
Result<Uint> WithdrawFromTradeAccount(const Keeper& k, const Context& ctx, const Asset& asset,
                                      const Uint& amount, const AccAddress& owner,
                                      const Address& asset_address, const TxID& tx_id);

}  // namespace blockreplay::keeper::thorchain
