#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>

#include "absl/status/status.h"
#include "storage/kv/engine.h"
#include "storage/kv/write_batch.h"

namespace blockreplay::storage {

// Writes batches to an engine in the background, in the order they came, so that the next block's
// work goes on meanwhile. After an error nothing more is written: the database stays as after the
// last good batch, and every later call gives the error.
//
// Threads: one producer; cpu_nanos and pending for any.
class Committer {
 public:
  // `engine` is not owned. At most `max_pending` batches wait or are being written.
  Committer(Engine* engine, Durability durability, size_t max_pending);
  // Writes what is pending.
  ~Committer();
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  // Waits while `max_pending` batches are pending.
  absl::Status Enqueue(WriteBatch batch);
  // Waits until all batches are written.
  absl::Status Drain();
  absl::Status status() const;
  size_t pending() const;

  // CPU time of the writing thread in nanoseconds.
  int64_t cpu_nanos() const;

 private:
  void ThreadMain();

  Engine* const engine_;
  const Durability durability_;
  const size_t max_pending_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<WriteBatch> queue_;
  bool writing_ = false;
  bool stopping_ = false;
  absl::Status status_;
  int64_t cpu_nanos_ = 0;
  std::thread thread_;
};

}  // namespace blockreplay::storage
