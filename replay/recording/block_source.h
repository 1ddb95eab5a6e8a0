#pragma once

#include <google/protobuf/arena.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "blockreplay/v1/recording.pb.h"
#include "replay/recording/manifest.h"

namespace blockreplay::replay {

// A block in memory of its own. Hand it back with BlockSource::Recycle, so that the reader can use
// its memory again.
class DecodedBlock {
 public:
  DecodedBlock();
  const v1::Block& operator*() const { return *block_; }
  const v1::Block* operator->() const { return block_; }
  // Size of the message that it was decoded from.
  size_t encoded_size() const { return encoded_size_; }

 private:
  friend class BlockSource;
  void Clear();

  std::unique_ptr<char[]> initial_;
  std::unique_ptr<google::protobuf::Arena> arena_;
  v1::Block* block_ = nullptr;
  size_t encoded_size_ = 0;
};

// The blocks of a recording, decoded ahead by a thread of its own; how far ahead is bounded in
// blocks and bytes. Next and Recycle may be called by one thread.
class BlockSource {
 public:
  // Blocks below `first_wanted` are read, checked for their height, and left out.
  BlockSource(std::string recording_dir, const Manifest& manifest, int64_t first_wanted);
  // Stops the thread.
  ~BlockSource();
  BlockSource(const BlockSource&) = delete;
  BlockSource& operator=(const BlockSource&) = delete;

  // The next block; null after the last one.
  absl::StatusOr<std::unique_ptr<DecodedBlock>> Next();
  void Recycle(std::unique_ptr<DecodedBlock> block);

  // CPU time of the thread so far, in nanoseconds.
  int64_t cpu_nanos() const { return cpu_nanos_.load(std::memory_order_relaxed); }

 private:
  void Read();
  // Waits for room in the queue; false if the source is being destroyed.
  bool WaitForRoom(std::unique_lock<std::mutex>* lock);

  const std::string recording_dir_;
  const Manifest manifest_;
  const int64_t first_wanted_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<DecodedBlock>> ready_;
  size_t ready_bytes_ = 0;
  std::vector<std::unique_ptr<DecodedBlock>> spare_;
  bool ended_ = false;
  bool stopping_ = false;
  absl::Status status_;

  std::atomic<int64_t> cpu_nanos_{0};
  std::thread thread_;  // last: it uses the others
};

}  // namespace blockreplay::replay
