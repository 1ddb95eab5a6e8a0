#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "replay/stats/run_statistics.h"

namespace blockreplay::replay {

// Net writes to one store.
struct StoreWrites {
  int64_t sets = 0;
  int64_t deletes = 0;
  int64_t bytes = 0;  // keys and values
};

// A slow block, and what was in it.
struct SlowBlock {
  BlockRecord record;
  std::map<std::string, StoreWrites> stores;
  std::map<std::string, int64_t> transactions;  // how many of each kind
};

}  // namespace blockreplay::replay
