#pragma once

// lp/: positions in pools.

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

// If there is none: an empty position under that address, which is the one of RUNE for an address
// of THORChain, else that of the asset.
Result<LiquidityProvider> GetLiquidityProvider(const Keeper& k, const Context& ctx,
                                               const Asset& asset, const Address& address);
void SetLiquidityProvider(const Keeper& k, const Context& ctx, const LiquidityProvider& provider);
void RemoveLiquidityProvider(const Keeper& k, const Context& ctx,
                             const LiquidityProvider& provider);

}  // namespace blockreplay::keeper::thorchain
