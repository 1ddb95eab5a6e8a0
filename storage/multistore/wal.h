#pragma once

// The write-ahead log of deferred persistence: one record for each version since the last flush,
// under a key that Go nodes ignore. A record holds what is needed to make the version again and to
// prove that it is the same.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/multistore/commit_info.h"

namespace blockreplay::storage {

// The writes of one store, in the order they were made.
class ChangeLog {
 public:
  void Set(std::string_view key, std::string_view value);
  void Delete(std::string_view key);
  void Clear() { bytes_.clear(); }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Calls `visit` for each write of a ChangeLog's bytes; no value means a delete. kDataLoss where
// they are malformed.
absl::Status ForEachChange(
    std::string_view bytes,
    const std::function<absl::Status(std::string_view key, const std::string_view* value)>& visit);

struct WalStore {
  std::string_view name;
  std::string_view changes;  // of a ChangeLog
};

struct WalRecord {
  int64_t version = 0;
  Hash app_hash{};
  BlockTime time;
  std::vector<WalStore> stores;
};

inline constexpr char kWalPrefix[] = "blockreplay/wal/";
std::string WalKey(int64_t version);

std::string EncodeWalRecord(const WalRecord& record);
// The record's views point into `bytes`. kDataLoss names `version`.
absl::StatusOr<WalRecord> DecodeWalRecord(int64_t version, std::string_view bytes);

// Versions that have a record, ascending.
absl::StatusOr<std::vector<int64_t>> ListWal(const Reader& db);

// Whether the log is of no use any more. A flush drops the records together with setting
// `s/latest`, so one of a version up to `latest` means that another program made versions since:
// those after it are of another history.
inline bool IsObsoleteWal(const std::vector<int64_t>& versions, int64_t latest) {
  return !versions.empty() && versions.front() <= latest;
}

}  // namespace blockreplay::storage
