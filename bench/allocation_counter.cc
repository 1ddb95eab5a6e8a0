#include "bench/allocation_counter.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<uint64_t> calls{0};
std::atomic<uint64_t> bytes{0};

}  // namespace

void* operator new(size_t size) {
  calls.fetch_add(1, std::memory_order_relaxed);
  bytes.fetch_add(size, std::memory_order_relaxed);
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
  std::abort();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t /*size*/) noexcept { std::free(memory); }

namespace blockreplay::bench {

Allocations CountedAllocations() {
  return {calls.load(std::memory_order_relaxed), bytes.load(std::memory_order_relaxed)};
}

}  // namespace blockreplay::bench
