#pragma once

// What a version changed in a tree, from the records of a node's database.

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "storage/kv/store.h"

namespace blockreplay::storage::bptree {

// Nothing as value: the key was removed. The views live only during the call.
using ChangeVisitor =
    std::function<absl::Status(std::string_view key, std::optional<std::string_view> value)>;

// Calls `visit` for each key that `version` wrote or removed, ascending. A write of an unchanged
// value is one (its value record is a new one); a removal of a key that was absent leaves no trace.
// `version - 1` must be in the database, unless `first` says that the tree began with `version`.
//
// Reads the nodes that are not in both versions, and keeps their keys in memory. Records are
// checked by their checksums, the hashes are not computed. kNotFound where a version is not there,
// kDataLoss where records are missing or malformed.
absl::Status ForEachChange(const Reader& database, std::string_view key_prefix, int64_t version,
                           bool first, const ChangeVisitor& visit);

}  // namespace blockreplay::storage::bptree
