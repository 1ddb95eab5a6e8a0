#pragma once

// pool_swap_slip/, pool_swap_slip_long/ and pool_swap_slip_ss/: how much swaps moved the price of
// an anchor of derived assets, in basis points: per block, summed over the last blocks, as a mean
// over a long time, and snapshots of the sum.

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

// Adds to this block's.
void AddToSwapSlip(const Keeper& k, const Context& ctx, const Asset& asset, int64_t slip);

int64_t GetCurrentRollup(const Keeper& k, const Context& ctx, const Asset& asset);
// Moves the window of the sum, `blocks` long, on by the last block. Starts anew if the window has
// become smaller.
void RollUpSwapSlip(const Keeper& k, const Context& ctx, const Asset& asset, int64_t blocks);

int64_t GetLongRollup(const Keeper& k, const Context& ctx, const Asset& asset);
void SetLongRollup(const Keeper& k, const Context& ctx, const Asset& asset, int64_t slip);

// Prefix of the keys of an asset's snapshots, which end in "/<height>".
std::string SwapSlipSnapshotPrefix(const Asset& asset);

}  // namespace blockreplay::keeper::thorchain
