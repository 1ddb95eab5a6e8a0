#include "keeper/gno/amino.h"

namespace blockreplay::keeper::gno::amino {

bool FieldReader::ReadUvarint(uint64_t* value) {
  *value = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    if (rest_.empty()) return Fail();
    const auto byte = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    if (shift == 63 && byte > 1) return Fail();
    *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return Fail();
}

bool FieldReader::Next(uint32_t repeated) {
  if (!ok_ || rest_.empty()) return false;
  uint64_t tag = 0;
  if (!ReadUvarint(&tag)) return false;
  const uint64_t number = tag >> 3;
  if (number == 0 || number > (uint64_t{1} << 29) - 1) return Fail();
  const bool again = number == field_ && number < 32 && (repeated >> number & 1) != 0;
  if (number <= field_ && !again) return Fail();
  field_ = static_cast<uint32_t>(number);
  type_ = static_cast<WireType>(tag & 7);
  return true;
}

bool FieldReader::Bytes(std::string_view* value) {
  uint64_t size = 0;
  if (type_ != WireType::kBytes || !ReadUvarint(&size) || size > rest_.size()) return Fail();
  *value = rest_.substr(0, static_cast<size_t>(size));
  rest_.remove_prefix(static_cast<size_t>(size));
  return true;
}

bool FieldReader::Uvarint(uint64_t* value) {
  if (type_ != WireType::kVarint) return Fail();
  return ReadUvarint(value);
}

bool FieldReader::Varint(int64_t* value) {
  uint64_t zigzag = 0;
  if (!Uvarint(&zigzag)) return false;
  *value = static_cast<int64_t>(zigzag >> 1 ^ -(zigzag & 1));
  return true;
}

bool DecodeAny(std::string_view bytes, Any* any) {
  FieldReader reader(bytes);
  std::string_view url;
  if (!reader.Next() || reader.field() != 1 || !reader.Bytes(&url) || url.empty()) return false;
  for (const char c : url) {
    if (c < 32 || c > 126) return false;
  }
  const size_t slash = url.rfind('/');
  if (slash == std::string_view::npos) return false;
  any->name = url.substr(slash + 1);
  any->value = {};
  if (!reader.Next()) return reader.ok();
  return reader.field() == 2 && reader.Bytes(&any->value) && !reader.Next() && reader.ok();
}

bool DecodeUint64(std::string_view bytes, uint64_t* value) {
  *value = 0;
  FieldReader reader(bytes);
  if (!reader.Next()) return reader.ok();
  return reader.field() == 1 && reader.Uvarint(value) && !reader.Next() && reader.ok();
}

}  // namespace blockreplay::keeper::gno::amino
