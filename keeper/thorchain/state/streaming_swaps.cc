#include "keeper/thorchain/state/streaming_swaps.h"

namespace blockreplay::keeper::thorchain {

bool StreamingSwapExists(const Keeper& k, const Context& ctx, const TxID& hash) {
  return HasKey(k, ctx, StoreKey(kStreamingSwapPrefix, hash.ToString()));
}

Result<StreamingSwap> GetStreamingSwap(const Keeper& k, const Context& ctx, const TxID& hash) {
  StreamingSwap swap;
  swap.tx_id = hash;
  const Result<bool> found =
      GetRecord(k, ctx, StoreKey(kStreamingSwapPrefix, hash.ToString()), &swap);
  if (!found.ok()) return found.error();
  return swap;
}

}  // namespace blockreplay::keeper::thorchain
