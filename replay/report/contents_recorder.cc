#include "replay/report/contents_recorder.h"

#include <algorithm>
#include <utility>

namespace blockreplay::replay {
namespace {

// For a heap with the fastest block on top.
bool Slower(const SlowBlock& a, const SlowBlock& b) {
  return a.record.wall_nanos > b.record.wall_nanos;
}

// Returns what it added altogether.
StoreWrites AddWrites(const v1::Block& block, std::map<std::string, StoreWrites>* stores) {
  StoreWrites all;
  // Writes come store by store: one lookup for each run of them.
  const std::string* name = nullptr;
  StoreWrites* writes = nullptr;
  for (const auto& pair : block.change_set()) {
    if (name == nullptr || *name != pair.store_key()) {
      name = &pair.store_key();
      writes = &(*stores)[*name];
    }
    const auto bytes = static_cast<int64_t>(pair.key().size() + pair.value().size());
    for (StoreWrites* sum : {writes, &all}) {
      ++(pair.delete_() ? sum->deletes : sum->sets);
      sum->bytes += bytes;
    }
  }
  return all;
}

}  // namespace

void ContentsRecorder::Add(const v1::Block& block, BlockRecord* record) {
  const StoreWrites writes = AddWrites(block, &stores_);
  record->sets += writes.sets;
  record->deletes += writes.deletes;
  record->change_set_bytes += writes.bytes;
  if (slowest_.size() == kSlowest) {
    if (record->wall_nanos <= slowest_.front().record.wall_nanos) return;
    std::pop_heap(slowest_.begin(), slowest_.end(), Slower);
    slowest_.pop_back();
  }
  SlowBlock slow;
  slow.record = *record;
  AddWrites(block, &slow.stores);
  if (chain_ != nullptr) {
    for (const std::string& tx : block.request().txs()) ++slow.transactions[chain_->DescribeTx(tx)];
  }
  slowest_.push_back(std::move(slow));
  std::push_heap(slowest_.begin(), slowest_.end(), Slower);
}

std::vector<SlowBlock> ContentsRecorder::Slowest() const {
  std::vector<SlowBlock> sorted = slowest_;
  std::sort(sorted.begin(), sorted.end(), Slower);
  return sorted;
}

}  // namespace blockreplay::replay
