#include "profiling/sample_store.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "profiling/heap_sampler.h"

namespace blockreplay::profiling {
namespace {

int64_t Bucket(int64_t height, int64_t width) { return width <= 0 ? 0 : height - height % width; }

}  // namespace

SampleKey SampleStore::Intern(absl::Span<const uintptr_t> stack, const LabelValues& labels) {
  const heap_sampler::ScopedPause pause;
  std::lock_guard lock(mutex_);
  SampleKey key;
  if (auto it = stack_ids_.find(stack); it != stack_ids_.end()) {
    key.stack = it->second;
  } else {
    key.stack = static_cast<uint32_t>(stacks_.size());
    auto& memory = stack_memory_.emplace_back(new uintptr_t[stack.size()]);
    std::copy(stack.begin(), stack.end(), memory.get());
    stacks_.emplace_back(memory.get(), stack.size());
    stack_ids_.emplace(stacks_.back(), key.stack);
  }
  LabelValues without_height = labels;
  without_height.height = 0;
  const auto [it, inserted] =
      label_set_ids_.try_emplace(without_height, static_cast<uint32_t>(label_sets_.size()));
  if (inserted) label_sets_.push_back(without_height);
  key.labels = it->second;
  key.height = labels.height;
  return key;
}

void SampleStore::Add(const SampleKey& key, double count, double amount) {
  const heap_sampler::ScopedPause pause;
  std::lock_guard lock(mutex_);
  SampleKey total_key = key;
  total_key.height = Bucket(key.height, height_bucket_);
  Sums& sums = totals_[total_key];
  sums.count += count;
  sums.amount += amount;
  if (!marks_.empty()) {
    singles_.push_back({key, count, amount});
  } else {
    ++first_single_;
  }
  ++position_;
}

uint64_t SampleStore::Mark() {
  const heap_sampler::ScopedPause pause;
  std::lock_guard lock(mutex_);
  marks_.insert(position_);
  return position_;
}

void SampleStore::ReleaseMark(uint64_t mark) {
  const heap_sampler::ScopedPause pause;
  std::lock_guard lock(mutex_);
  const auto it = marks_.find(mark);
  if (it == marks_.end()) {
    std::fprintf(stderr, "profiling: mark %llu released twice\n",
                 static_cast<unsigned long long>(mark));
    std::abort();
  }
  marks_.erase(it);
  TrimLocked();
}

void SampleStore::TrimLocked() {
  const uint64_t keep_from = marks_.empty() ? position_ : *marks_.begin();
  while (first_single_ < keep_from) {
    singles_.pop_front();
    ++first_single_;
  }
}

uint64_t SampleStore::Position() const {
  const heap_sampler::ScopedPause pause;
  std::lock_guard lock(mutex_);
  return position_;
}

SampleSum SampleStore::ResolveLocked(const SampleKey& key, int64_t height_bucket) const {
  SampleSum sum;
  sum.stack = stacks_[key.stack];
  sum.labels = label_sets_[key.labels];
  sum.labels.height = Bucket(key.height, height_bucket);
  return sum;
}

SampleSum SampleStore::Resolve(const SampleKey& key, int64_t height_bucket) const {
  const heap_sampler::ScopedPause pause;
  std::lock_guard lock(mutex_);
  return ResolveLocked(key, height_bucket);
}

std::vector<SampleSum> SampleStore::ListLocked(const SumMap& sums) const {
  std::vector<SampleSum> list;
  list.reserve(sums.size());
  for (const auto& [key, sum] : sums) {
    // Heights in `sums` are in their buckets already.
    SampleSum entry = ResolveLocked(key, 1);
    entry.count = sum.count;
    entry.amount = sum.amount;
    list.push_back(entry);
  }
  return list;
}

std::vector<SampleSum> SampleStore::Total() const {
  const heap_sampler::ScopedPause pause;
  std::lock_guard lock(mutex_);
  return ListLocked(totals_);
}

std::vector<SampleSum> SampleStore::Between(uint64_t since, uint64_t until,
                                            int64_t height_bucket) const {
  const heap_sampler::ScopedPause pause;
  std::lock_guard lock(mutex_);
  if (since < first_single_) {
    std::fprintf(stderr, "profiling: samples from %llu on asked for, kept from %llu on\n",
                 static_cast<unsigned long long>(since),
                 static_cast<unsigned long long>(first_single_));
    std::abort();
  }
  SumMap sums;
  for (uint64_t i = since; i < std::min(until, position_); ++i) {
    const Single& single = singles_[i - first_single_];
    SampleKey key = single.key;
    key.height = Bucket(key.height, height_bucket);
    Sums& sum = sums[key];
    sum.count += single.count;
    sum.amount += single.amount;
  }
  return ListLocked(sums);
}

}  // namespace blockreplay::profiling
