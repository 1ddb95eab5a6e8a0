#pragma once

// Amino as tm2 chains use it (gnolang/gno, tm2/pkg/amino): the wire form of proto3 with ascending
// fields and without zero values, decoded strictly.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace blockreplay::keeper::gno::amino {

enum class WireType : uint8_t { kVarint = 0, kEightBytes = 1, kBytes = 2, kFourBytes = 5 };

// Interface values nest no deeper than this.
inline constexpr int kMaxAnyDepth = 64;

// Walks over the fields of a message. Unknown, repeated and out-of-order fields are errors, and so
// is another wire type than the expected one; after an error ok() is false and Next() too.
class FieldReader {
 public:
  explicit FieldReader(std::string_view message) : rest_(message) {}

  // Advances to the next field. The caller must read its value with the function for its type.
  // Fields whose bit (1 << number) is set in `repeated` may occur several times in a row.
  bool Next(uint32_t repeated = 0);
  uint32_t field() const { return field_; }

  bool Bytes(std::string_view* value);
  bool Uvarint(uint64_t* value);
  bool Varint(int64_t* value);  // zigzag
  bool Fail() {
    ok_ = false;
    return false;
  }

  bool ok() const { return ok_; }

 private:
  bool ReadUvarint(uint64_t* value);

  std::string_view rest_;
  uint32_t field_ = 0;
  WireType type_ = WireType::kVarint;
  bool ok_ = true;
};

// A google.protobuf.Any: the full name (behind the last slash of its URL) and the value.
struct Any {
  std::string_view name;
  std::string_view value;
};
bool DecodeAny(std::string_view bytes, Any* any);

// A bare scalar at the top is a message with field 1; empty is zero.
bool DecodeUint64(std::string_view bytes, uint64_t* value);

// Appends to a buffer of the caller, who has made sure that there is room.
class Writer {
 public:
  explicit Writer(char* to) : begin_(to), to_(to) {}

  void Raw(std::string_view bytes) {
    if (!bytes.empty()) __builtin_memcpy(to_, bytes.data(), bytes.size());
    to_ += bytes.size();
  }
  void Uvarint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) *to_++ = static_cast<char>(value | 0x80);
    *to_++ = static_cast<char>(value);
  }
  void Tag(uint32_t field, WireType type) { Uvarint(field << 3 | static_cast<uint32_t>(type)); }
  // Zero values are left out.
  void BytesField(uint32_t field, std::string_view value) {
    if (value.empty()) return;
    Tag(field, WireType::kBytes);
    Uvarint(value.size());
    Raw(value);
  }
  void UvarintField(uint32_t field, uint64_t value) {
    if (value == 0) return;
    Tag(field, WireType::kVarint);
    Uvarint(value);
  }
  void VarintField(uint32_t field, int64_t value) {
    UvarintField(field, static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63));
  }
  // The head of a message whose `size` is known; an empty message is left out.
  bool MessageField(uint32_t field, size_t size) {
    if (size == 0) return false;
    Tag(field, WireType::kBytes);
    Uvarint(size);
    return true;
  }

  size_t size() const { return static_cast<size_t>(to_ - begin_); }
  char* position() { return to_; }
  void Skip(size_t size) { to_ += size; }

 private:
  char* const begin_;
  char* to_;
};

constexpr size_t UvarintSize(uint64_t value) {
  size_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}
// Sizes of fields with numbers below 16.
constexpr size_t BytesFieldSize(size_t size) {
  return size == 0 ? 0 : 1 + UvarintSize(size) + size;
}
constexpr size_t UvarintFieldSize(uint64_t value) {
  return value == 0 ? 0 : 1 + UvarintSize(value);
}
constexpr size_t VarintFieldSize(int64_t value) {
  return UvarintFieldSize(static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63));
}

}  // namespace blockreplay::keeper::gno::amino
