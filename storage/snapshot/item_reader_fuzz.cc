// Input: flags (1 byte: bit 0, compress the rest first; the other bits, the size of the pieces),
// then bytes. Reading must end in items or in an error.
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "storage/snapshot/item_reader.h"

namespace {

using namespace blockreplay::storage::snapshot;  // NOLINT(google-build-using-namespace)

class MemorySource : public ByteSource {
 public:
  MemorySource(std::string_view bytes, size_t piece) : bytes_(bytes), piece_(piece) {}
  absl::StatusOr<std::string_view> Next() override {
    const std::string_view piece = bytes_.substr(0, piece_);
    bytes_.remove_prefix(piece.size());
    return piece;
  }
  std::string Position() const override { return "memory"; }

 private:
  std::string_view bytes_;
  size_t piece_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const uint8_t flags = data[0];
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if ((flags & 1) != 0) {
    std::string compressed(compressBound(bytes.size()), '\0');
    uLongf compressed_size = compressed.size();
    compress2(reinterpret_cast<Bytef*>(compressed.data()), &compressed_size,
              reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), 1);
    compressed.resize(compressed_size);
    bytes = compressed;
  }
  MemorySource source(bytes, static_cast<size_t>(flags >> 1) + 1);
  ItemReader reader(&source);
  while (true) {
    const absl::StatusOr<const SnapshotItem*> item = reader.Next();
    if (!item.ok() || *item == nullptr) return 0;
  }
}
