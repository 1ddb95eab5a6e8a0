#pragma once

// What a swap gives: x comes into a pool with the depth X, something leaves the side of the depth
// Y. As in the node, products of three depths panic if they exceed 256 bits.

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

// x * X * Y / (x + X)^2.
Uint CalcAssetEmission(const Uint& X, const Uint& x, const Uint& Y);
// x / (x + X) in basis points.
Uint CalcSwapSlip(const Uint& X, const Uint& x);

struct SwapOutcome {
  Uint emitted;
  Uint liquidity_fee;
  Uint slip;
};
// The liquidity fee follows from the slip, but at least from min_slip.
SwapOutcome CalcSwap(const Uint& X, const Uint& x, const Uint& Y, const Uint& slip,
                     const Uint& min_slip);

// Both are assets of dollar anchors' pools.
bool IsStableToStable(const Keeper& k, const Context& ctx, const Asset& source,
                      const Asset& target);
// The least slip that counts for swaps of that kind of asset, in basis points.
Uint GetMinSlip(const Keeper& k, const Context& ctx, const Asset& asset, bool stable);

}  // namespace blockreplay::keeper::thorchain
