// Any bytes as a part that a recorder left: read to its last complete block, without a crash and
// with bounded memory.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "replay/record/part_file.h"

namespace {

class BytesSource : public blockreplay::replay::ByteSource {
 public:
  BytesSource(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  absl::StatusOr<size_t> Read(char* buffer, size_t capacity) override {
    const size_t count = std::min(size_, capacity);
    std::memcpy(buffer, data_, count);
    data_ += count;
    size_ -= count;
    return count;
  }

 private:
  const uint8_t* data_;
  size_t size_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  blockreplay::replay::PartReader reader(std::make_unique<BytesSource>(data, size), "part");
  blockreplay::v1::Block block;
  uint64_t end = 0;
  for (;;) {
    const absl::StatusOr<bool> more = reader.Next(&block);
    if (!more.ok() || !*more) break;
    if (reader.begin() != end || reader.end() <= end || reader.end() > size) std::abort();
    end = reader.end();
  }
  // What was refused is not part of what may be kept.
  if (reader.end() != end) std::abort();
  return 0;
}
