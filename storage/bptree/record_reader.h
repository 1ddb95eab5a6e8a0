#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/bptree/record.h"
#include "storage/kv/store.h"

namespace blockreplay::storage::bptree {

// Reads records of a tree from a database, and says of those that are wrong where they are. Checks
// their checksums.
class RecordReader {
 public:
  // `database` must outlive it; `key_prefix` stands before the tree's records.
  RecordReader(const Reader& database, std::string_view key_prefix)
      : database_(database), prefix_(key_prefix) {}

  // Into `*record`; the payload points into it. kDataLoss if it is missing or malformed.
  absl::StatusOr<std::string_view> Read(const std::string& key, std::string* record) const;
  // Its height must be `height` if that is given.
  absl::StatusOr<Ref<Node>> ReadNode(RecordKey name, std::optional<int> height) const;
  // kNotFound if there is none: the version was pruned, or never made.
  absl::StatusOr<RootRecord> ReadRoot(int64_t version) const;

 private:
  absl::Status Located(const std::string& key, const absl::Status& status) const;

  const Reader& database_;
  const std::string prefix_;
};

}  // namespace blockreplay::storage::bptree
