#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "replay/inspect/database.h"
#include "storage/multistore/diff.h"

namespace blockreplay::replay {

struct FirstKeyDifference {
  std::string store;
  std::string key;
  std::optional<std::string> left;  // nothing: the key is absent
  std::optional<std::string> right;
};

struct DatabaseDiff {
  int64_t left_height = 0;
  int64_t right_height = 0;
  storage::Hash left_app_hash{};
  storage::Hash right_app_hash{};
  std::vector<storage::StoreDifference> stores;  // all of both sides, ascending
  // In the first store that has one; nothing if only the trees' histories differ.
  std::optional<FirstKeyDifference> first_key;
  // Why there is no key: the trees of that height are pruned, for instance.
  std::string key_note;
  // How many heights were compared by their commit infos before this one.
  int64_t equal_heights = 0;
  bool same = false;
};

// Compares two states. With a height on a side, that version, and the last of the other one unless
// it has one too. Without heights, all heights that both have, ascending, and the first that
// differs; if none does, the last of each.
absl::StatusOr<DatabaseDiff> DiffDatabases(const InspectedDatabase& left,
                                           std::optional<int64_t> left_height,
                                           const InspectedDatabase& right,
                                           std::optional<int64_t> right_height);

}  // namespace blockreplay::replay
