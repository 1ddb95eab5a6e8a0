#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace blockreplay::keeper::sdk {

// Bump allocator for keys and values of a branch. Copies stay where they are until the arena dies,
// so views into it can be handed out freely. Not thread-safe.
class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  std::string_view Copy(std::string_view bytes) {
    if (bytes.empty()) return std::string_view("", 0);
    if (bytes.size() > left_) Grow(bytes.size());
    char* const to = next_;
    std::memcpy(to, bytes.data(), bytes.size());
    next_ += bytes.size();
    left_ -= bytes.size();
    return {to, bytes.size()};
  }

  // Takes over the memory of `other`: views into it live as long as this arena.
  void Adopt(Arena&& other) {
    for (auto& chunk : other.chunks_) chunks_.push_back(std::move(chunk));
    other.chunks_.clear();
    other.next_ = nullptr;
    other.left_ = 0;
  }

 private:
  void Grow(size_t needed) {
    constexpr size_t kSmallest = 4096;
    constexpr size_t kLargest = size_t{1} << 20;
    const size_t doubled = kSmallest << (chunks_.size() < 8 ? chunks_.size() : 8);
    const size_t size = std::max(needed, std::min(doubled, kLargest));
    chunks_.push_back(std::make_unique_for_overwrite<char[]>(size));
    next_ = chunks_.back().get();
    left_ = size;
  }

  std::vector<std::unique_ptr<char[]>> chunks_;
  char* next_ = nullptr;
  size_t left_ = 0;
};

}  // namespace blockreplay::keeper::sdk
