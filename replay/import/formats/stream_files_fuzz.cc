// The first byte chooses between a data file and a meta file of the SDK's file streaming service,
// the rest is its payload.
#include <cstdint>
#include <string_view>

#include "replay/import/formats/stream_files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kPrefix = 8;
  if (size < 1 + kPrefix) return 0;
  const std::string_view payload(reinterpret_cast<const char*>(data) + 1 + kPrefix,
                                 size - 1 - kPrefix);
  blockreplay::v1::Block block;
  if (data[0] % 2 == 1) {
    (void)blockreplay::replay::ParseStreamData(payload, "data", block.mutable_change_set());
  } else {
    int listed_before = 0;
    (void)blockreplay::replay::ParseStreamMeta(payload, "meta", 3, &listed_before, &block);
  }
  return 0;
}
