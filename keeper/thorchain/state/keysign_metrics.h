#pragma once

// tss_keysign_metric/ and latest_tss_keysign_metric/: how long nodes needed to sign an outbound.

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

Result<TssKeysignMetric> GetKeysignMetric(const Keeper& k, const Context& ctx, const TxID& tx_id);
// Also as the latest one.
void SetKeysignMetric(const Keeper& k, const Context& ctx, const TssKeysignMetric& metric);

// ---- Without the store ----

// Adds or replaces the node's time.
void SetNodeTime(std::vector<NodeTssTime>* times, const AccAddress& node, int64_t milliseconds);
// Zero without times; the truncated mean of the two middle ones.
int64_t MedianTime(const std::vector<NodeTssTime>& times);

}  // namespace blockreplay::keeper::thorchain
