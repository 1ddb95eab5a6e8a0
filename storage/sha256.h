#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "storage/commit_tree.h"

namespace blockreplay::storage {

// SHA-256 of `data`, 32 bytes to `out`. Costs little more than its compression rounds for inputs
// below 120 bytes, which is what trees hash almost only.
void Sha256(std::string_view data, uint8_t* out);
Hash Sha256(std::string_view data);

// A message of at most two blocks that is built in place, so that hashing it copies nothing.
class ShortMessage {
 public:
  static constexpr size_t kCapacity = 119;  // what fits in two blocks beside the padding

  // Where to write the message.
  uint8_t* data() { return block_; }
  // Hashes the first `size` (at most kCapacity) bytes. The message is then gone.
  void Finish(size_t size, uint8_t* out);

 private:
  alignas(64) uint8_t block_[128];
};

}  // namespace blockreplay::storage
