#pragma once

// Whether liquidity can be added or withdrawn.

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

bool IsLiquidityPaused(const Keeper& k, const Context& ctx, const Chain& chain);
bool IsPoolDepositPaused(const Keeper& k, const Context& ctx, const Asset& asset);

}  // namespace blockreplay::keeper::thorchain
