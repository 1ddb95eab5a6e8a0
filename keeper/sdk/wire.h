#pragma once

// Protobuf's wire format, as gogoproto's generated code reads and writes it: fields in ascending
// order, unknown fields skipped, text not checked for UTF-8, an embedded message that comes twice
// merged.

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace blockreplay::keeper::sdk {

enum class WireType : uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kBytes = 2,
  kStartGroup = 3,
  kEndGroup = 4,
  kFixed32 = 5
};

// Writes a message from its end to its beginning, so that lengths are known when they are due.
// Append the fields of a message in descending order.
class WireWriter {
 public:
  WireWriter() : buffer_(512, '\0'), position_(buffer_.size()) {}

  // Bytes written so far; marks the end of an embedded message.
  size_t size() const { return buffer_.size() - position_; }
  std::string_view bytes() const { return std::string_view(buffer_).substr(position_); }
  void Clear() { position_ = buffer_.size(); }

  void Raw(std::string_view bytes) {
    if (bytes.empty()) return;
    Reserve(bytes.size());
    position_ -= bytes.size();
    std::memcpy(buffer_.data() + position_, bytes.data(), bytes.size());
  }
  void Varint(uint64_t value) {
    char digits[10];
    size_t n = 0;
    while (value >= 0x80) {
      digits[n++] = static_cast<char>(value | 0x80);
      value >>= 7;
    }
    digits[n++] = static_cast<char>(value);
    Raw({digits, n});
  }
  void Tag(uint32_t number, WireType type) {
    Varint(uint64_t{number} << 3 | static_cast<uint64_t>(type));
  }

  // Whole fields; proto3 leaves out the default value.
  void VarintField(uint32_t number, uint64_t value) {
    if (value == 0) return;
    Varint(value);
    Tag(number, WireType::kVarint);
  }
  void BytesField(uint32_t number, std::string_view value) {
    if (!value.empty()) BytesFieldAlways(number, value);
  }
  void BytesFieldAlways(uint32_t number, std::string_view value) {
    Raw(value);
    Varint(value.size());
    Tag(number, WireType::kBytes);
  }
  // Closes the embedded message written since `mark` = size().
  void EndMessage(uint32_t number, size_t mark) {
    Varint(size() - mark);
    Tag(number, WireType::kBytes);
  }

 private:
  void Reserve(size_t needed) {
    if (needed <= position_) return;
    const size_t used = size();
    std::string larger(2 * buffer_.size() + needed, '\0');
    std::memcpy(larger.data() + larger.size() - used, buffer_.data() + position_, used);
    position_ = larger.size() - used;
    buffer_ = std::move(larger);
  }

  std::string buffer_;
  size_t position_;
};

// Reads the fields of one message. All functions return false at malformed input.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : p_(bytes.data()), end_(p_ + bytes.size()) {}

  bool AtEnd() const { return p_ == end_; }
  // Bytes of `bytes`, which it was made with, read so far.
  size_t Position(std::string_view bytes) const { return static_cast<size_t>(p_ - bytes.data()); }
  bool Varint(uint64_t* value) {
    uint64_t result = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (p_ == end_) return false;
      const auto byte = static_cast<uint8_t>(*p_++);
      result |= uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) {
        *value = result;
        return true;
      }
    }
    return false;
  }
  bool Tag(uint32_t* number, WireType* type) {
    uint64_t tag = 0;
    if (!Varint(&tag)) return false;
    *number = static_cast<uint32_t>(tag >> 3);
    *type = static_cast<WireType>(tag & 7);
    return static_cast<int32_t>(*number) > 0;
  }
  bool Bytes(std::string_view* value) {
    uint64_t size = 0;
    if (!Varint(&size) || size > static_cast<uint64_t>(end_ - p_)) return false;
    *value = {p_, static_cast<size_t>(size)};
    p_ += size;
    return true;
  }
  // A field that nobody knows. Groups may nest, up to a limit.
  bool Skip(uint32_t number, WireType type, int depth = 0);

 private:
  const char* p_;
  const char* end_;
};

}  // namespace blockreplay::keeper::sdk
