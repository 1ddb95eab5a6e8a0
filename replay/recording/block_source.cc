#include "replay/recording/block_source.h"

#include <utility>

#include "profiling/labels.h"
#include "profiling/thread_clock.h"
#include "replay/recording/recording_reader.h"

namespace blockreplay::replay {
namespace {

// Enough to ride out a slow block without holding more than a few large ones.
constexpr size_t kMaxBlocksAhead = 32;
constexpr size_t kMaxBytesAhead = size_t{16} << 20;
// An arena's first memory, kept over its resets. Most blocks fit.
constexpr size_t kInitialArenaSize = size_t{512} << 10;

}  // namespace

DecodedBlock::DecodedBlock() : initial_(new char[kInitialArenaSize]) {
  google::protobuf::ArenaOptions options;
  options.initial_block = initial_.get();
  options.initial_block_size = kInitialArenaSize;
  options.start_block_size = size_t{64} << 10;
  options.max_block_size = size_t{4} << 20;
  arena_ = std::make_unique<google::protobuf::Arena>(options);
  Clear();
}

void DecodedBlock::Clear() {
  arena_->Reset();
  block_ = google::protobuf::Arena::CreateMessage<v1::Block>(arena_.get());
  encoded_size_ = 0;
}

BlockSource::BlockSource(std::string recording_dir, const Manifest& manifest, int64_t first_wanted)
    : recording_dir_(std::move(recording_dir)),
      manifest_(manifest),
      first_wanted_(first_wanted),
      thread_([this] { Read(); }) {}

BlockSource::~BlockSource() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

absl::StatusOr<std::unique_ptr<DecodedBlock>> BlockSource::Next() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return !ready_.empty() || ended_; });
  // Blocks before a damaged place are still handed out.
  if (ready_.empty()) {
    if (!status_.ok()) return status_;
    return std::unique_ptr<DecodedBlock>();
  }
  std::unique_ptr<DecodedBlock> block = std::move(ready_.front());
  ready_.pop_front();
  ready_bytes_ -= block->encoded_size();
  lock.unlock();
  changed_.notify_all();
  return block;
}

void BlockSource::Recycle(std::unique_ptr<DecodedBlock> block) {
  std::lock_guard<std::mutex> lock(mutex_);
  spare_.push_back(std::move(block));
}

bool BlockSource::WaitForRoom(std::unique_lock<std::mutex>* lock) {
  changed_.wait(*lock, [this] {
    return stopping_ || (ready_.size() < kMaxBlocksAhead && ready_bytes_ < kMaxBytesAhead);
  });
  return !stopping_;
}

void BlockSource::Read() {
  profiling::SetThreadRole("decode");
  static const profiling::LabelId kDecode = profiling::InternLabel("decode");
  const profiling::ScopedLabel phase(profiling::LabelKey::kPhase, kDecode);
  BlockReader reader(recording_dir_, manifest_);
  std::unique_ptr<DecodedBlock> block;
  for (;;) {
    if (block == nullptr) {
      std::lock_guard<std::mutex> lock(mutex_);
      if (stopping_) return;
      if (!spare_.empty()) {
        block = std::move(spare_.back());
        spare_.pop_back();
      }
    }
    if (block == nullptr) {
      block = std::make_unique<DecodedBlock>();
    } else {
      block->Clear();
    }
    const absl::StatusOr<bool> more = reader.Next(block->block_);
    cpu_nanos_.store(profiling::ThreadCpuNanos(), std::memory_order_relaxed);
    const bool done = !more.ok() || !*more;
    if (!done && (*block)->height() < first_wanted_) continue;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      if (done) {
        status_ = more.status();
        ended_ = true;
      } else {
        if (!WaitForRoom(&lock)) return;
        block->encoded_size_ = reader.encoded_size();
        ready_bytes_ += block->encoded_size_;
        ready_.push_back(std::move(block));
      }
    }
    changed_.notify_all();
    if (done) return;
  }
}

}  // namespace blockreplay::replay
