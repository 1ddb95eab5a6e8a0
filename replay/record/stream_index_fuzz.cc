// Any bytes as manifest.draft.json: refused, or written and read again as the same.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "replay/record/stream_index.h"

using blockreplay::replay::IndexToJson;
using blockreplay::replay::ParseIndex;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto index = ParseIndex({reinterpret_cast<const char*>(data), size}, "draft");
  if (!index.ok()) return 0;
  const std::string text = IndexToJson(*index);
  const auto again = ParseIndex(text, "draft");
  if (!again.ok() || IndexToJson(*again) != text) std::abort();
  return 0;
}
