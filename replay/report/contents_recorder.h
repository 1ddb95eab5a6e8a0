#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "blockreplay/v1/recording.pb.h"
#include "keeper/chain.h"
#include "replay/stats/block_contents.h"

namespace blockreplay::replay {

// Sums up what blocks wrote, by store, and remembers what was in the slowest ones. Takes a few
// microseconds a block, more only for a block that is among the slowest so far. Not thread-safe.
class ContentsRecorder {
 public:
  static constexpr size_t kSlowest = 20;

  // `chain` names the kinds of transactions; null: they have none.
  explicit ContentsRecorder(std::unique_ptr<keeper::Chain> chain) : chain_(std::move(chain)) {}

  // `record` has the block's times; the block's writes are counted here and added to it.
  void Add(const v1::Block& block, BlockRecord* record);

  const std::map<std::string, StoreWrites>& stores() const { return stores_; }
  // Slowest first.
  std::vector<SlowBlock> Slowest() const;

 private:
  std::unique_ptr<keeper::Chain> chain_;
  std::map<std::string, StoreWrites> stores_;
  std::vector<SlowBlock> slowest_;  // a heap, the fastest of them first
};

}  // namespace blockreplay::replay
