// Input: the size of the pieces (1 byte), then a tar file. Reading must end in files or in an
// error, and give no more bytes than there are.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "storage/snapshot/tar_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using blockreplay::storage::snapshot::TarReader;
  if (size < 1) return 0;
  const size_t piece = size_t{data[0]} + 1;
  size_t position = 1;
  TarReader reader([&](char* buffer, size_t capacity) -> absl::StatusOr<size_t> {
    const size_t got = std::min({capacity, piece, size - position});
    std::memcpy(buffer, data + position, got);
    position += got;
    return got;
  });
  size_t total = 0;
  char buffer[64];
  for (;;) {
    const absl::StatusOr<std::optional<TarReader::Entry>> entry = reader.Next();
    if (!entry.ok() || !*entry) return 0;
    for (;;) {
      const absl::StatusOr<size_t> got = reader.Read(buffer, sizeof(buffer));
      if (!got.ok() || *got == 0) break;
      total += *got;
      if (total > size) std::abort();
    }
  }
}
