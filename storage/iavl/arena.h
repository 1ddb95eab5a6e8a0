#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace blockreplay::storage::iavl {

// Memory for the nodes of one tree: blocks of 64·k bytes that begin at a cache line, cut from
// slabs, with one free list for each k. Slabs go back to the system with the arena only. Not
// thread-safe.
class Arena {
 public:
  static constexpr size_t kLine = 64;
  static constexpr size_t kClasses = 16;

  Arena() = default;
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Number of lines that `bytes` need, or 0 if such a block comes from the heap.
  static uint8_t ClassOf(size_t bytes) {
    const size_t lines = (bytes + kLine - 1) / kLine;
    return lines <= kClasses ? static_cast<uint8_t>(lines) : uint8_t{0};
  }

  // `size_class` must be ClassOf(bytes), here and in Free.
  void* Allocate(size_t bytes, uint8_t size_class);
  void Free(void* block, size_t bytes, uint8_t size_class);

  // Bytes in blocks that are in use.
  size_t live_bytes() const { return live_bytes_; }

 private:
  struct FreeBlock {
    FreeBlock* next;
  };
  // Before a block from the heap, a line of its own; links all of them, so that they go with the
  // arena.
  struct alignas(kLine) HeapBlock {
    HeapBlock* previous;
    HeapBlock* next;
  };
  struct Slab {
    void* memory;
    size_t bytes;
    bool mapped;
  };

  void* Carve(size_t bytes);
  void AddSlab();

  FreeBlock* free_[kClasses + 1] = {};
  HeapBlock* heap_blocks_ = nullptr;
  char* bump_ = nullptr;
  size_t bump_left_ = 0;
  size_t next_slab_bytes_ = size_t{4} << 10;
  size_t live_bytes_ = 0;
  std::vector<Slab> slabs_;
};

}  // namespace blockreplay::storage::iavl
