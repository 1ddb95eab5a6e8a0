#include "storage/kv/write_batch.h"

#include <limits>

#include "absl/base/internal/raw_logging.h"

namespace blockreplay::storage {

void WriteBatch::AppendEntry(Op op, std::string_view key_prefix, std::string_view key,
                             std::string_view value) {
  constexpr size_t kLimit = std::numeric_limits<uint32_t>::max();
  const size_t key_size = key_prefix.size() + key.size();
  if (key_size > kLimit || value.size() > kLimit) {
    ABSL_RAW_LOG(FATAL, "batch entry too large: key of %zu bytes, value of %zu bytes", key_size,
                 value.size());
  }
  EntryHeader header{};
  header.key_size = static_cast<uint32_t>(key_size);
  header.value_size = static_cast<uint32_t>(value.size());
  header.op = op;
  buffer_.append(reinterpret_cast<const char*>(&header), sizeof(header));
  buffer_.append(key_prefix);
  buffer_.append(key);
  buffer_.append(value);
  ++count_;
}

void WriteBatch::Put(std::string_view key, std::string_view value) {
  AppendEntry(Op::kPut, {}, key, value);
}

void WriteBatch::Put(std::string_view prefix, std::string_view key, std::string_view value) {
  AppendEntry(Op::kPut, prefix, key, value);
}

void WriteBatch::Delete(std::string_view key) { AppendEntry(Op::kDelete, {}, key, {}); }

void WriteBatch::Delete(std::string_view prefix, std::string_view key) {
  AppendEntry(Op::kDelete, prefix, key, {});
}

void WriteBatch::DeleteRange(std::string_view start, std::string_view end) {
  AppendEntry(Op::kDeleteRange, {}, start, end);
}

void WriteBatch::Append(const WriteBatch& other) {
  buffer_.append(other.buffer_);
  count_ += other.count_;
}

void WriteBatch::Clear() {
  buffer_.clear();
  count_ = 0;
}

}  // namespace blockreplay::storage
