#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "profiling/labels.h"

namespace blockreplay::profiling {

// Identifies what was running: stack and labels.
struct SampleKey {
  uint32_t stack = 0;
  uint32_t labels = 0;
  int64_t height = 0;  // exact

  friend bool operator==(const SampleKey&, const SampleKey&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const SampleKey& key) {
    return H::combine(std::move(h), key.stack, key.labels, key.height);
  }
};

// One (stack, labels) with what was summed up for it. Addresses are leaf first and live as long as
// the store.
struct SampleSum {
  absl::Span<const uintptr_t> stack;
  LabelValues labels;
  double count = 0;
  double amount = 0;
};

// Sums samples by stack and labels, and, while marks exist, keeps them singly so that any interval
// between a mark and another moment can be summed too. Sums are doubles because heap samples stand
// for fractions of allocations.
//
// Memory: whole-run sums grow with distinct (stack, labels, height bucket), single samples are
// dropped as soon as no mark is older than they. Thread-safe; never call it from a signal handler.
class SampleStore {
 public:
  // Whole-run sums round heights down to multiples of `height_bucket` (0: drop them).
  explicit SampleStore(int64_t height_bucket) : height_bucket_(height_bucket) {}

  SampleKey Intern(absl::Span<const uintptr_t> stack, const LabelValues& labels);
  void Add(const SampleKey& key, double count, double amount);

  // The position after the last sample, held until released.
  uint64_t Mark();
  void ReleaseMark(uint64_t mark);

  // Everything since construction.
  std::vector<SampleSum> Total() const;
  // Samples in positions [since, until), since being a mark that is still held.
  std::vector<SampleSum> Between(uint64_t since, uint64_t until, int64_t height_bucket) const;
  uint64_t Position() const;

  SampleSum Resolve(const SampleKey& key, int64_t height_bucket) const;
  int64_t height_bucket() const { return height_bucket_; }

 private:
  struct Sums {
    double count = 0;
    double amount = 0;
  };
  struct Single {
    SampleKey key;
    double count;
    double amount;
  };
  using SumMap = absl::flat_hash_map<SampleKey, Sums>;

  SampleSum ResolveLocked(const SampleKey& key, int64_t height_bucket) const;
  std::vector<SampleSum> ListLocked(const SumMap& sums) const;
  void TrimLocked();

  const int64_t height_bucket_;
  mutable std::mutex mutex_;
  std::deque<std::unique_ptr<uintptr_t[]>> stack_memory_;
  std::deque<absl::Span<const uintptr_t>> stacks_;
  absl::flat_hash_map<absl::Span<const uintptr_t>, uint32_t> stack_ids_;
  std::deque<LabelValues> label_sets_;  // heights are 0
  absl::flat_hash_map<LabelValues, uint32_t> label_set_ids_;
  SumMap totals_;
  std::deque<Single> singles_;
  uint64_t first_single_ = 0;  // position of singles_.front()
  uint64_t position_ = 0;
  std::multiset<uint64_t> marks_;
};

}  // namespace blockreplay::profiling
