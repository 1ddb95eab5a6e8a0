#include "keeper/thorchain/state/keysign_metrics.h"

#include <algorithm>
#include <string>

namespace blockreplay::keeper::thorchain {
namespace {

std::string Key(const TxID& tx_id) { return StoreKey("tss_keysign_metric/", tx_id.ToString()); }

}  // namespace

Result<TssKeysignMetric> GetKeysignMetric(const Keeper& k, const Context& ctx, const TxID& tx_id) {
  TssKeysignMetric metric;
  const Result<bool> found = GetRecord(k, ctx, Key(tx_id), &metric);
  if (!found.ok()) return found.error();
  if (!*found) metric.tx_id = tx_id;
  return metric;
}

void SetKeysignMetric(const Keeper& k, const Context& ctx, const TssKeysignMetric& metric) {
  SetRecord(k, ctx, Key(metric.tx_id), metric);
  SetRecord(k, ctx, StoreKey("latest_tss_keysign_metric/", "keysign"), metric);
}

void SetNodeTime(std::vector<NodeTssTime>* times, const AccAddress& node, int64_t milliseconds) {
  for (NodeTssTime& time : *times) {
    if (time.address == node) {
      time.tss_time = milliseconds;
      return;
    }
  }
  NodeTssTime& time = times->emplace_back();
  time.address = node;
  time.tss_time = milliseconds;
}

int64_t MedianTime(const std::vector<NodeTssTime>& times) {
  std::vector<int64_t> values;
  values.reserve(times.size());
  for (const NodeTssTime& time : times) values.push_back(time.tss_time);
  return Median(std::move(values));
}

}  // namespace blockreplay::keeper::thorchain
