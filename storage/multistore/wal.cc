#include "storage/multistore/wal.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"

namespace blockreplay::storage {
namespace {

// Layout: format, be8 version, app hash, varint seconds (two's complement), varint nanos, then for
// each store length-prefixed name and changes; at the end CRC-32 (IEEE, big-endian) of all that.
constexpr char kFormat = 1;
constexpr size_t kChecksumBytes = 4;

// In a ChangeLog: an operation byte, the length-prefixed key and, for a set, the length-prefixed
// value.
constexpr char kDelete = 0;
constexpr char kSet = 1;

void AppendBigEndian(uint64_t value, int bytes, std::string* out) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    out->push_back(static_cast<char>(value >> shift));
  }
}

uint64_t ReadBigEndian(std::string_view bytes) {
  uint64_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<uint8_t>(byte);
  return value;
}

void AppendVarint(uint64_t value, std::string* out) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

void AppendBytes(std::string_view bytes, std::string* out) {
  AppendVarint(bytes.size(), out);
  out->append(bytes);
}

bool ReadVarint(std::string_view* bytes, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64 && !bytes->empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes->front());
    bytes->remove_prefix(1);
    *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool ReadBytes(std::string_view* bytes, std::string_view* out) {
  uint64_t size = 0;
  if (!ReadVarint(bytes, &size) || size > bytes->size()) return false;
  *out = bytes->substr(0, size);
  bytes->remove_prefix(size);
  return true;
}

uint32_t Checksum(std::string_view bytes) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

void ChangeLog::Set(std::string_view key, std::string_view value) {
  bytes_.push_back(kSet);
  AppendBytes(key, &bytes_);
  AppendBytes(value, &bytes_);
}

void ChangeLog::Delete(std::string_view key) {
  bytes_.push_back(kDelete);
  AppendBytes(key, &bytes_);
}

absl::Status ForEachChange(
    std::string_view bytes,
    const std::function<absl::Status(std::string_view key, const std::string_view* value)>& visit) {
  while (!bytes.empty()) {
    const char op = bytes.front();
    bytes.remove_prefix(1);
    std::string_view key;
    std::string_view value;
    if ((op != kSet && op != kDelete) || !ReadBytes(&bytes, &key) ||
        (op == kSet && !ReadBytes(&bytes, &value))) {
      return absl::DataLossError("malformed change set");
    }
    absl::Status status = visit(key, op == kSet ? &value : nullptr);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

std::string WalKey(int64_t version) {
  std::string key = kWalPrefix;
  AppendBigEndian(static_cast<uint64_t>(version), 8, &key);
  return key;
}

std::string EncodeWalRecord(const WalRecord& record) {
  std::string out;
  size_t size = 128;
  for (const WalStore& store : record.stores) size += store.name.size() + store.changes.size() + 16;
  out.reserve(size);
  out.push_back(kFormat);
  AppendBigEndian(static_cast<uint64_t>(record.version), 8, &out);
  out.append(reinterpret_cast<const char*>(record.app_hash.data()), record.app_hash.size());
  AppendVarint(static_cast<uint64_t>(record.time.seconds), &out);
  AppendVarint(static_cast<uint32_t>(record.time.nanos), &out);
  for (const WalStore& store : record.stores) {
    AppendBytes(store.name, &out);
    AppendBytes(store.changes, &out);
  }
  AppendBigEndian(Checksum(out), kChecksumBytes, &out);
  return out;
}

absl::StatusOr<WalRecord> DecodeWalRecord(int64_t version, std::string_view bytes) {
  const auto error = [&](const char* what) {
    return absl::DataLossError(absl::StrCat("write-ahead record of version ", version, ": ", what));
  };
  WalRecord record;
  if (bytes.size() < 1 + 8 + record.app_hash.size() + kChecksumBytes) return error("truncated");
  const std::string_view checksum = bytes.substr(bytes.size() - kChecksumBytes);
  bytes.remove_suffix(kChecksumBytes);
  if (ReadBigEndian(checksum) != Checksum(bytes)) return error("wrong checksum");
  if (bytes.front() != kFormat) return error("written by another version of this program");
  bytes.remove_prefix(1);
  record.version = static_cast<int64_t>(ReadBigEndian(bytes.substr(0, 8)));
  if (record.version != version) return error("is of another version");
  bytes.remove_prefix(8);
  std::memcpy(record.app_hash.data(), bytes.data(), record.app_hash.size());
  bytes.remove_prefix(record.app_hash.size());
  uint64_t seconds = 0;
  uint64_t nanos = 0;
  if (!ReadVarint(&bytes, &seconds) || !ReadVarint(&bytes, &nanos)) return error("malformed time");
  record.time = {.seconds = static_cast<int64_t>(seconds), .nanos = static_cast<int32_t>(nanos)};
  while (!bytes.empty()) {
    WalStore store;
    if (!ReadBytes(&bytes, &store.name) || !ReadBytes(&bytes, &store.changes)) {
      return error("malformed store");
    }
    record.stores.push_back(store);
  }
  return record;
}

absl::StatusOr<std::vector<int64_t>> ListWal(const Reader& db) {
  std::vector<int64_t> versions;
  const std::string_view prefix = kWalPrefix;
  const std::unique_ptr<Iterator> it =
      db.NewIterator(KeyRange::Prefix(prefix), Direction::kForward);
  for (; it->Valid(); it->Next()) {
    if (it->key().size() != prefix.size() + 8) {
      return absl::DataLossError("a key below blockreplay/wal/ that is not a version");
    }
    versions.push_back(static_cast<int64_t>(ReadBigEndian(it->key().substr(prefix.size()))));
  }
  if (!it->status().ok()) return it->status();
  return versions;
}

}  // namespace blockreplay::storage
