#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace blockreplay::storage::snapshot {

// Reads tar files of regular files with short names (POSIX ustar without extensions). The bytes are
// untrusted: a size is believed only as far as bytes come. One thread.
class TarReader {
 public:
  // Puts up to `size` (> 0) bytes into `buffer`; 0 at the end.
  using Source = std::function<absl::StatusOr<size_t>(char* buffer, size_t size)>;

  struct Entry {
    std::string name;
    uint64_t size = 0;
  };

  explicit TarReader(Source source) : source_(std::move(source)) {}

  // The next file, what is left of the one before being skipped; nothing at the end. kDataLoss: not
  // a tar file, cut short, or with anything in it but regular files.
  absl::StatusOr<std::optional<Entry>> Next();
  // Bytes of the file, up to `size` (> 0); 0 at its end.
  absl::StatusOr<size_t> Read(char* buffer, size_t size);

 private:
  absl::Status ReadFully(char* buffer, size_t size);

  Source source_;
  uint64_t left_ = 0;     // of the file
  uint64_t padding_ = 0;  // after it
};

}  // namespace blockreplay::storage::snapshot
