#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "profiling/sample_store.h"

namespace blockreplay::profiling {

// Samples allocations through tcmalloc's hooks, with stack and labels at the time of allocation.
//
// tcmalloc's own sampler knows only memory in use, and without labels; it also wants an environment
// variable before the process starts. Ours is set up on Start: one allocation is sampled per
// `sample_bytes` allocated bytes on average, as a Poisson process over the stream of bytes of each
// thread, so that an allocation of S bytes is sampled with probability p = 1 - exp(-S /
// sample_bytes) and stands for 1/p allocations of its size.
//
// Without Start there is no hook and no cost. With it each allocation costs a hook's call (about 20
// ns), each free too.
namespace heap_sampler {

// Whether tcmalloc serves this program.
bool Available();

// Samples go into `allocations` (count: allocations, amount: bytes), which must live until the next
// Start: what is in use keeps referring to it. Memory allocated before is not seen.
absl::Status Start(SampleStore* allocations, int64_t sample_bytes);

// Idempotent. What was in use stays to be read.
void Stop();

// What was allocated since Start and isn't freed, by stack and labels, with heights in the store's
// bucket.
std::vector<SampleSum> InUse();

uint64_t SampleCount();

// Leaves out what the calling thread allocates and frees while it lives, all of which must be freed
// under a pause or never have been sampled. For code that the hooks call too: a hook that finds its
// caller holding the lock it needs would wait for ever. Costs next to nothing, whether or not the
// heap is being sampled.
class [[nodiscard]] ScopedPause {
 public:
  ScopedPause();
  ~ScopedPause();
  ScopedPause(const ScopedPause&) = delete;
  ScopedPause& operator=(const ScopedPause&) = delete;

 private:
  bool previous_;
};

}  // namespace heap_sampler
}  // namespace blockreplay::profiling
