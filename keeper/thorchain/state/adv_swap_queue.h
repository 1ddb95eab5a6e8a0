#pragma once

// The advanced queue of swaps: aq/ holds them, aqmark/ names those at market price, aqlim/ those
// with a limit by pair and price, aqttl/ those with a limit by the height at which they expire.

#include <vector>

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

inline constexpr std::string_view kAdvSwapQueuePrefix = "aq/";
inline constexpr std::string_view kAdvSwapQueueLimitPrefix = "aqlim/";
inline constexpr std::string_view kAdvSwapQueueMarketPrefix = "aqmark/";
inline constexpr std::string_view kAdvSwapQueueTtlPrefix = "aqttl/";

// What the constant EnableAdvSwapQueue means.
inline constexpr int64_t kAdvSwapQueueDisabled = 0;
inline constexpr int64_t kAdvSwapQueueMarketOnly = 2;

bool IsAdvSwapQueueEnabled(const Keeper& k, const Context& ctx);

// Also puts it into its index.
Error SetAdvSwapQueueItem(const Keeper& k, const Context& ctx, const MsgSwap& swap);
Result<MsgSwap> GetAdvSwapQueueItem(const Keeper& k, const Context& ctx, const TxID& hash,
                                    int64_t index);
// With its place in the index. An error if there is none.
Error RemoveAdvSwapQueueItem(const Keeper& k, const Context& ctx, const TxID& hash, int64_t index);

struct AdvSwapQueueIndexItem {
  TxID hash;
  int64_t index = 0;
};
// All that share the swap's index: those at market price, or those of its pair and price.
std::vector<AdvSwapQueueIndexItem> GetAdvSwapQueueIndex(const Keeper& k, const Context& ctx,
                                                        const MsgSwap& swap);
Error RemoveAdvSwapQueueIndex(const Keeper& k, const Context& ctx, const MsgSwap& swap);

// Notes that the swap expires at that height.
Error AddToLimitSwapTtl(const Keeper& k, const Context& ctx, int64_t height, const TxID& hash);

}  // namespace blockreplay::keeper::thorchain
