#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace blockreplay::storage {

// Writes to be applied to an engine at once, in order, independent of the engine. One flat buffer,
// so that building it on the hashing threads costs two copies of the bytes and no allocation per
// entry, and batches of several stores can be joined. Not thread-safe.
class WriteBatch {
 public:
  enum class Op : uint8_t { kPut = 0, kDelete = 1, kDeleteRange = 2 };

  void Put(std::string_view key, std::string_view value);
  // As Put, with the key given in two parts (a store's prefix and the key below it).
  void Put(std::string_view prefix, std::string_view key, std::string_view value);
  void Delete(std::string_view key);
  void Delete(std::string_view prefix, std::string_view key);
  // Deletes all keys in [start, end).
  void DeleteRange(std::string_view start, std::string_view end);

  void Append(const WriteBatch& other);
  void Clear();

  bool empty() const { return count_ == 0; }
  size_t count() const { return count_; }
  // Bytes of the buffer: the keys and values and a few bytes for each entry.
  size_t byte_size() const { return buffer_.size(); }

  // Calls `visit(op, key, value)` for each entry in order; for a range, `key` is its start and
  // `value` its end.
  template <typename Visitor>
  void ForEach(Visitor&& visit) const;

 private:
  struct EntryHeader {
    uint32_t key_size;
    uint32_t value_size;
    Op op;
  };

  void AppendEntry(Op op, std::string_view key_prefix, std::string_view key,
                   std::string_view value);

  std::string buffer_;
  size_t count_ = 0;
};

template <typename Visitor>
void WriteBatch::ForEach(Visitor&& visit) const {
  const char* p = buffer_.data();
  const char* const end = p + buffer_.size();
  while (p < end) {
    EntryHeader header;
    __builtin_memcpy(&header, p, sizeof(header));
    p += sizeof(header);
    const std::string_view key(p, header.key_size);
    p += header.key_size;
    const std::string_view value(p, header.value_size);
    p += header.value_size;
    visit(header.op, key, value);
  }
}

}  // namespace blockreplay::storage
