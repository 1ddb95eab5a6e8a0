#include "storage/multistore/committer.h"

#include <utility>

#include "profiling/labels.h"
#include "profiling/thread_clock.h"

namespace blockreplay::storage {

Committer::Committer(Engine* engine, Durability durability, size_t max_pending)
    : engine_(engine),
      durability_(durability),
      max_pending_(max_pending),
      thread_([this] { ThreadMain(); }) {}

Committer::~Committer() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

absl::Status Committer::Enqueue(WriteBatch batch) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return queue_.size() + (writing_ ? 1 : 0) < max_pending_; });
  if (!status_.ok()) return status_;
  queue_.push_back(std::move(batch));
  lock.unlock();
  changed_.notify_all();
  return absl::OkStatus();
}

absl::Status Committer::Drain() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return queue_.empty() && !writing_; });
  return status_;
}

absl::Status Committer::status() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return status_;
}

size_t Committer::pending() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return queue_.size() + (writing_ ? 1 : 0);
}

int64_t Committer::cpu_nanos() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return cpu_nanos_;
}

void Committer::ThreadMain() {
  profiling::SetThreadRole("commit");
  static const profiling::LabelId kCommit = profiling::InternLabel("commit");
  const profiling::ScopedLabel phase(profiling::LabelKey::kPhase, kCommit);
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    WriteBatch batch = std::move(queue_.front());
    queue_.pop_front();
    if (!status_.ok()) {
      changed_.notify_all();
      continue;
    }
    writing_ = true;
    lock.unlock();
    absl::Status status = engine_->Write(batch, durability_);
    batch = WriteBatch();
    const int64_t cpu_nanos = profiling::ThreadCpuNanos();
    lock.lock();
    writing_ = false;
    status_.Update(status);
    cpu_nanos_ = cpu_nanos;
    changed_.notify_all();
  }
}

}  // namespace blockreplay::storage
