#pragma once

#include <cstdint>

namespace blockreplay::bench {

// Calls of operator new and bytes asked for by them, in the whole process since it started. A
// program that links allocation_counter.cc has its operators replaced by counting ones.
struct Allocations {
  uint64_t count = 0;
  uint64_t bytes = 0;
};
Allocations CountedAllocations();

}  // namespace blockreplay::bench
