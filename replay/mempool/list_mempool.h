#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace blockreplay::replay {

// The transactions that wait for a block, in the order of their arrival, each once: tm2's and
// CometBFT's list mempool without peers. Not thread-safe.
class ListMempool {
 public:
  // False if it is there already.
  bool Add(std::string_view tx);
  // False if it is not there.
  bool Remove(std::string_view tx);

  size_t size() const { return txs_.size(); }
  // The first ones, at most `most`. The views are valid as long as the transactions are here.
  std::vector<std::string_view> Reap(size_t most) const;

 private:
  std::list<std::string> txs_;
  absl::flat_hash_map<std::string_view, std::list<std::string>::iterator> places_;
};

}  // namespace blockreplay::replay
