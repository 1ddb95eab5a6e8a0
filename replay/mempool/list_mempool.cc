#include "replay/mempool/list_mempool.h"

#include <algorithm>
#include <iterator>

namespace blockreplay::replay {

bool ListMempool::Add(std::string_view tx) {
  if (places_.contains(tx)) return false;
  txs_.emplace_back(tx);
  const auto place = std::prev(txs_.end());
  places_.emplace(*place, place);
  return true;
}

bool ListMempool::Remove(std::string_view tx) {
  const auto found = places_.find(tx);
  if (found == places_.end()) return false;
  const auto place = found->second;
  places_.erase(found);
  txs_.erase(place);
  return true;
}

std::vector<std::string_view> ListMempool::Reap(size_t most) const {
  std::vector<std::string_view> txs;
  txs.reserve(std::min(most, txs_.size()));
  for (const std::string& tx : txs_) {
    if (txs.size() == most) break;
    txs.push_back(tx);
  }
  return txs;
}

}  // namespace blockreplay::replay
