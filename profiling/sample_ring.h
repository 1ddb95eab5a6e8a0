#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "absl/types/span.h"
#include "profiling/labels.h"
#include "profiling/stack_walk.h"

namespace blockreplay::profiling {

enum class SampleSource : uint8_t { kCpu, kWall };

struct SampleHead {
  SampleSource source = SampleSource::kCpu;
  uint32_t count = 0;  // sampling periods that the sample stands for
  int64_t nanos = 0;   // and their length
  LabelValues labels;
};

// Samples on their way from one thread's signal handlers to the collector: a fixed ring of words
// for one writer and one reader, without locks or allocation. Handlers of one thread never
// interrupt each other (their signals mask each other), so that they count as one writer.
// Collectors exclude each other by a lock of theirs.
class SampleRing {
 public:
  // Writer. False if the ring is full. Async-signal-safe.
  bool Push(const SampleHead& head, absl::Span<const uintptr_t> stack) {
    const uint64_t written = written_.load(std::memory_order_relaxed);
    const uint64_t used = written - read_.load(std::memory_order_acquire);
    const uint64_t size = kHeadWords + stack.size();
    if (used + size > kWords) return false;
    uint64_t at = written;
    Put(at++, stack.size() | uint64_t{static_cast<uint8_t>(head.source)} << 16 |
                  uint64_t{head.count} << 32);
    Put(at++, static_cast<uint64_t>(head.nanos));
    for (int i = 0; i < kLabelKeyCount; i += 2) {
      Put(at++, head.labels.ids[i] | uint64_t{head.labels.ids[i + 1]} << 32);
    }
    Put(at++, static_cast<uint64_t>(head.labels.height));
    for (const uintptr_t address : stack) Put(at++, address);
    written_.store(at, std::memory_order_release);
    return true;
  }

  // Reader. Moves the oldest sample out; false if there is none. `stack` has room for
  // kMaxStackDepth.
  bool Pop(SampleHead* head, uintptr_t* stack, size_t* depth) {
    uint64_t at = read_.load(std::memory_order_relaxed);
    if (at == written_.load(std::memory_order_acquire)) return false;
    const uint64_t first = Get(at++);
    *depth = static_cast<size_t>(first & 0xffff);
    head->source = static_cast<SampleSource>(first >> 16 & 0xff);
    head->count = static_cast<uint32_t>(first >> 32);
    head->nanos = static_cast<int64_t>(Get(at++));
    for (int i = 0; i < kLabelKeyCount; i += 2) {
      const uint64_t pair = Get(at++);
      head->labels.ids[i] = static_cast<LabelId>(pair);
      head->labels.ids[i + 1] = static_cast<LabelId>(pair >> 32);
    }
    head->labels.height = static_cast<int64_t>(Get(at++));
    for (size_t i = 0; i < *depth; ++i) stack[i] = Get(at++);
    read_.store(at, std::memory_order_release);
    return true;
  }

  static constexpr uint64_t kHeadWords = 3 + kLabelKeyCount / 2;

 private:
  static_assert(kLabelKeyCount % 2 == 0, "labels are packed in pairs");
  static_assert(kMaxStackDepth <= 0xffff);
  static_assert(sizeof(uintptr_t) == sizeof(uint64_t));

  // The collector comes by ten times a second, a thread gives at most one sample per tick and
  // source in between (250 Hz on most kernels), typical stacks are 20 to 60 deep: 50 * 60 words,
  // with a factor of more than two to spare.
  static constexpr uint64_t kWords = 8192;

  void Put(uint64_t at, uint64_t word) { words_[at % kWords] = word; }
  uint64_t Get(uint64_t at) const { return words_[at % kWords]; }

  std::atomic<uint64_t> written_{0};
  std::atomic<uint64_t> read_{0};
  std::array<uint64_t, kWords> words_;
};

}  // namespace blockreplay::profiling
