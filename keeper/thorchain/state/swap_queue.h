#pragma once

// swapitem/: the classic queue of swaps.

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

inline constexpr std::string_view kSwapQueuePrefix = "swapitem/";

// "<hash>-<index>", the name of a swap in both queues.
std::string SwapItemName(const TxID& hash, int64_t index);

void SetSwapQueueItem(const Keeper& k, const Context& ctx, const MsgSwap& swap, int64_t index);
bool HasSwapQueueItem(const Keeper& k, const Context& ctx, const TxID& hash, int64_t index);

}  // namespace blockreplay::keeper::thorchain
