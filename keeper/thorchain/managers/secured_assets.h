#pragma once

// The secured asset manager: tokens of THORChain's bank for assets that stay in the vaults.

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

// What `owner` could withdraw, of the layer-1 asset.
Uint SecuredAssetBalance(const Keeper& k, const Context& ctx, const Asset& asset,
                         const AccAddress& owner);
// Mints tokens for the layer-1 asset; returns them.
Result<Coin> DepositSecuredAsset(const Keeper& k, const Context& ctx, const Asset& asset,
                                 const Uint& amount, const AccAddress& owner,
                                 const Address& asset_address, const TxID& tx_id);
// Burns tokens; returns what they were worth of the layer-1 asset.
Result<Coin> WithdrawSecuredAsset(const Keeper& k, const Context& ctx, const Asset& asset,
                                  const Uint& amount, const AccAddress& owner,
                                  const Address& asset_address, const TxID& tx_id);
// An error while all of them are halted.
Error CheckSecuredAssetHalt(const Keeper& k, const Context& ctx);

}  // namespace blockreplay::keeper::thorchain
