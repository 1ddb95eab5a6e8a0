#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/multistore/view.h"

namespace blockreplay::storage {

// A key that two versions do not have alike; nothing where it is absent. The views live only during
// the call.
struct KeyDifference {
  std::string_view key;
  std::optional<std::string_view> left;
  std::optional<std::string_view> right;
};

// A store of two multistores. An absent store has no hash.
struct StoreDifference {
  std::string name;
  std::optional<Hash> left;
  std::optional<Hash> right;

  bool same() const { return left == right; }
};

// All stores that either side has, ascending, with their root hashes. Opens no tree.
std::vector<StoreDifference> CompareStores(const CommitInfo& left, const CommitInfo& right);

// Calls `visit` for each key of `store` that has not the same value on both sides, in bytewise
// order, until it returns false. An absent store counts as empty. Trees with the same root hash are
// not read. Two trees with the same pairs may have different hashes, because a hash depends on the
// history.
absl::Status DiffStore(MultistoreView* left, MultistoreView* right, std::string_view store,
                       const std::function<bool(const KeyDifference&)>& visit);

}  // namespace blockreplay::storage
