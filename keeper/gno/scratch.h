#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace blockreplay::keeper::gno {

// Bump allocator for what lives as long as one transaction. Reset keeps the memory, so that a
// steady stream of transactions allocates nothing. Not thread-safe.
class Scratch {
 public:
  char* Allocate(size_t size) {
    if (size > left_) Grow(size);
    char* const at = next_;
    next_ += size;
    left_ -= size;
    return at;
  }
  std::string_view Copy(std::string_view bytes) {
    if (bytes.empty()) return {"", 0};
    char* const to = Allocate(bytes.size());
    std::memcpy(to, bytes.data(), bytes.size());
    return {to, bytes.size()};
  }
  // Views into it become invalid.
  void Reset() {
    if (chunks_.size() > 1) chunks_.erase(chunks_.begin(), chunks_.end() - 1);
    next_ = chunks_.empty() ? nullptr : chunks_.back().memory.get();
    left_ = chunks_.empty() ? 0 : chunks_.back().size;
  }

 private:
  struct Chunk {
    std::unique_ptr<char[]> memory;
    size_t size;
  };

  void Grow(size_t needed) {
    constexpr size_t kSmallest = 16384;
    const size_t doubled = chunks_.empty() ? kSmallest : 2 * chunks_.back().size;
    const size_t size = needed > doubled ? needed : doubled;
    chunks_.push_back({std::make_unique_for_overwrite<char[]>(size), size});
    next_ = chunks_.back().memory.get();
    left_ = size;
  }

  std::vector<Chunk> chunks_;  // the last one is the largest
  char* next_ = nullptr;
  size_t left_ = 0;
};

}  // namespace blockreplay::keeper::gno
