#include "keeper/thorchain/state/swap_queue.h"

#include <string>

namespace blockreplay::keeper::thorchain {

std::string SwapItemName(const TxID& hash, int64_t index) {
  return sdk::StrCat(hash.ToString(), "-", index);
}

void SetSwapQueueItem(const Keeper& k, const Context& ctx, const MsgSwap& swap, int64_t index) {
  SetRecord(k, ctx, StoreKey(kSwapQueuePrefix, SwapItemName(swap.tx.id, index)), swap);
}

bool HasSwapQueueItem(const Keeper& k, const Context& ctx, const TxID& hash, int64_t index) {
  MsgSwap swap;
  const Result<bool> found =
      GetRecord(k, ctx, StoreKey(kSwapQueuePrefix, SwapItemName(hash, index)), &swap);
  // A malformed one is there, too.
  return !found.ok() || *found;
}

}  // namespace blockreplay::keeper::thorchain
