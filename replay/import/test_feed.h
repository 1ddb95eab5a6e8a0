#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "replay/import/block_feed.h"
#include "replay/import/recording_completion.h"

namespace blockreplay::replay {

// For tests.
class NoObserver final : public CompletionObserver {
 public:
  void OnBase(const char*, const storage::SnapshotProgress&) override {}
  void OnBlock(int64_t) override {}
};

// A feed of blocks in memory.
class TestFeed final : public BlockFeed {
 public:
  TestFeed(FeedSource source, std::vector<v1::Block> blocks)
      : source_(std::move(source)), blocks_(std::move(blocks)) {}

  FeedSource source() const override { return source_; }
  HeightRange range() const override { return {blocks_.front().height(), blocks_.back().height()}; }
  absl::StatusOr<bool> Next(FedBlock* block) override {
    if (next_ == blocks_.size()) return false;
    block->block = blocks_[next_++];
    return true;
  }
  absl::StatusOr<std::optional<tendermint::types::Header>> HeaderAfterLast() override {
    return header_after_last;
  }

  std::optional<tendermint::types::Header> header_after_last;

 private:
  const FeedSource source_;
  const std::vector<v1::Block> blocks_;
  size_t next_ = 0;
};

}  // namespace blockreplay::replay
