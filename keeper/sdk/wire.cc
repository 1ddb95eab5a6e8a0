#include "keeper/sdk/wire.h"

namespace blockreplay::keeper::sdk {

bool WireReader::Skip(uint32_t number, WireType type, int depth) {
  constexpr int kDeepest = 64;
  uint64_t ignored = 0;
  std::string_view bytes;
  switch (type) {
    case WireType::kVarint:
      return Varint(&ignored);
    case WireType::kFixed64:
      if (end_ - p_ < 8) return false;
      p_ += 8;
      return true;
    case WireType::kBytes:
      return Bytes(&bytes);
    case WireType::kFixed32:
      if (end_ - p_ < 4) return false;
      p_ += 4;
      return true;
    case WireType::kStartGroup:
      if (depth == kDeepest) return false;
      while (true) {
        uint32_t inner = 0;
        WireType inner_type{};
        if (!Tag(&inner, &inner_type)) return false;
        if (inner_type == WireType::kEndGroup) return inner == number;
        if (!Skip(inner, inner_type, depth + 1)) return false;
      }
    case WireType::kEndGroup:
      return false;
  }
  return false;
}

}  // namespace blockreplay::keeper::sdk
