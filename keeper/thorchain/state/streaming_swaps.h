#pragma once

// stream/: swaps of the classic queue that are made in several parts.

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

inline constexpr std::string_view kStreamingSwapPrefix = "stream/";

bool StreamingSwapExists(const Keeper& k, const Context& ctx, const TxID& hash);
// With nothing but the hash if there is none.
Result<StreamingSwap> GetStreamingSwap(const Keeper& k, const Context& ctx, const TxID& hash);

}  // namespace blockreplay::keeper::thorchain
