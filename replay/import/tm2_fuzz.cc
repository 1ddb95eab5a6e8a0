// Input: which of a tm2 node's records it is (1 byte), then the record. Each must be parsed or
// refused.
#include <cstdint>
#include <string>
#include <string_view>

#include "replay/import/genesis.h"
#include "replay/import/tm2_records.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace blockreplay::replay;  // NOLINT(google-build-using-namespace)
  if (size < 1) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 8) {
    case 0: {
      const auto meta = ParseTm2BlockMeta(bytes);
      if (meta.ok() && meta->header.hash.size() != 32) __builtin_trap();
      break;
    }
    case 1: {
      const auto part = ParseTm2Part(bytes, 0);
      if (part.ok() && part->size() > bytes.size()) __builtin_trap();
      break;
    }
    case 2: {
      const auto block = ParseTm2Block(bytes);
      if (block.ok() && block->header.hash.empty()) __builtin_trap();
      break;
    }
    case 3: {
      const auto responses = ParseTm2Responses(bytes);
      if (responses.ok() &&
          responses->results_hash.empty() != responses->response.tx_results().empty()) {
        __builtin_trap();
      }
      break;
    }
    case 4:
      (void)ParseTm2Validators(bytes);
      break;
    case 5:
      (void)ParseTm2State(bytes);
      break;
    case 6: {
      const auto height = ParseTm2BlockStoreHeight(bytes);
      if (height.ok() && *height < 0) __builtin_trap();
      break;
    }
    default:
      (void)ParseTm2Genesis(std::string(bytes), "genesis.json");
      break;
  }
  return 0;
}
