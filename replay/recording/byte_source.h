#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace blockreplay::replay {

// A stream of bytes read once, front to back. Not thread-safe.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Bytes put into `buffer`, at most `capacity` (> 0); 0 at the end. After an error every call
  // fails.
  virtual absl::StatusOr<size_t> Read(char* buffer, size_t capacity) = 0;
};

// What a zstd stream decompresses to: one frame or several, windows up to 128 MiB. Errors name the
// file and the offset in it; a stream that ends inside a frame is an error.
absl::StatusOr<std::unique_ptr<ByteSource>> OpenZstdFile(const std::string& path);

}  // namespace blockreplay::replay
