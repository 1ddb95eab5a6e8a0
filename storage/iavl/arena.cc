#include "storage/iavl/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#define BLOCKREPLAY_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BLOCKREPLAY_ASAN 1
#endif
#endif

#ifdef BLOCKREPLAY_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

namespace blockreplay::storage::iavl {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

[[noreturn]] void OutOfMemory(size_t bytes) {
  std::fprintf(stderr, "iavl: out of memory: %zu bytes for tree nodes; lower --cache-mb\n", bytes);
  std::abort();
}

}  // namespace

Arena::~Arena() {
  while (heap_blocks_ != nullptr) {
    HeapBlock* next = heap_blocks_->next;
    std::free(heap_blocks_);
    heap_blocks_ = next;
  }
  for (const Slab& slab : slabs_) {
    ASAN_UNPOISON_MEMORY_REGION(slab.memory, slab.bytes);
    if (slab.mapped) {
      munmap(slab.memory, slab.bytes);
    } else {
      std::free(slab.memory);
    }
  }
}

void* Arena::Allocate(size_t bytes, uint8_t size_class) {
  if (size_class == 0) {
    const size_t rounded = (bytes + kLine - 1) / kLine * kLine;
    void* memory = std::aligned_alloc(kLine, sizeof(HeapBlock) + rounded);
    if (memory == nullptr) OutOfMemory(rounded);
    auto* block = new (memory) HeapBlock{nullptr, heap_blocks_};
    if (heap_blocks_ != nullptr) heap_blocks_->previous = block;
    heap_blocks_ = block;
    live_bytes_ += rounded;
    return block + 1;
  }
  const size_t block_bytes = size_class * kLine;
  live_bytes_ += block_bytes;
  if (FreeBlock* block = free_[size_class]) {
    ASAN_UNPOISON_MEMORY_REGION(block, block_bytes);
    free_[size_class] = block->next;
    return block;
  }
  return Carve(block_bytes);
}

void Arena::Free(void* block, size_t bytes, uint8_t size_class) {
  if (size_class == 0) {
    live_bytes_ -= (bytes + kLine - 1) / kLine * kLine;
    auto* heap_block = static_cast<HeapBlock*>(block) - 1;
    (heap_block->previous != nullptr ? heap_block->previous->next : heap_blocks_) =
        heap_block->next;
    if (heap_block->next != nullptr) heap_block->next->previous = heap_block->previous;
    std::free(heap_block);
    return;
  }
  live_bytes_ -= size_class * kLine;
  auto* free_block = static_cast<FreeBlock*>(block);
  free_block->next = free_[size_class];
  free_[size_class] = free_block;
  ASAN_POISON_MEMORY_REGION(block, size_class * kLine);
}

void* Arena::Carve(size_t bytes) {
  if (bump_left_ < bytes) {
    // The rest of the slab still serves as one block of a smaller class.
    if (bump_left_ >= kLine) {
      const size_t lines = std::min(bump_left_ / kLine, kClasses);
      auto* rest = reinterpret_cast<FreeBlock*>(bump_);
      ASAN_UNPOISON_MEMORY_REGION(rest, lines * kLine);
      rest->next = free_[lines];
      free_[lines] = rest;
      ASAN_POISON_MEMORY_REGION(rest, lines * kLine);
    }
    AddSlab();
  }
  void* block = bump_;
  ASAN_UNPOISON_MEMORY_REGION(block, bytes);
  bump_ += bytes;
  bump_left_ -= bytes;
  return block;
}

void Arena::AddSlab() {
  // Small trees stay small: slabs double from 4 KiB to one huge page, then one or more huge pages
  // each, which saves most TLB misses of a descent.
  Slab slab{};
  slab.bytes = next_slab_bytes_;
  if (slab.bytes >= kHugePage) {
    // Over-allocate to align, and give back the ends.
    const size_t reserved = slab.bytes + kHugePage;
    void* memory =
        mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) OutOfMemory(reserved);
    const auto address = reinterpret_cast<uintptr_t>(memory);
    const uintptr_t aligned = (address + kHugePage - 1) / kHugePage * kHugePage;
    if (aligned > address) munmap(memory, aligned - address);
    const uintptr_t tail = aligned + slab.bytes;
    if (address + reserved > tail) {
      munmap(reinterpret_cast<void*>(tail), address + reserved - tail);
    }
    slab.memory = reinterpret_cast<void*>(aligned);
    slab.mapped = true;
    madvise(slab.memory, slab.bytes, MADV_HUGEPAGE);
  } else {
    slab.memory = std::aligned_alloc(kLine, slab.bytes);
    if (slab.memory == nullptr) OutOfMemory(slab.bytes);
  }
  ASAN_POISON_MEMORY_REGION(slab.memory, slab.bytes);
  slabs_.push_back(slab);
  bump_ = static_cast<char*>(slab.memory);
  bump_left_ = slab.bytes;
  next_slab_bytes_ = std::min(next_slab_bytes_ * 2, kHugePage);
}

}  // namespace blockreplay::storage::iavl
