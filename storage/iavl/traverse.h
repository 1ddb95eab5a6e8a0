#pragma once

// Reading below an anchor: what trees and views share.

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/iavl/node_store.h"
#include "storage/iavl/view.h"
#include "storage/kv/store.h"

namespace blockreplay::storage::iavl {

// The leaf with `key`, or null: absent if `*status` is OK.
const Leaf* FindLeaf(NodeStore* store, Inner* anchor, std::string_view key, absl::Status* status);

// Reads what was below the anchor when it was made, also while the tree is written to. Must be gone
// before the tree's next Commit, Flush or Trim, and before the store.
std::unique_ptr<Iterator> NewTreeIterator(NodeStore* store, Inner* anchor, const KeyRange& range,
                                          Direction direction);

absl::Status ExportNodes(NodeStore* store, Inner* anchor,
                         const std::function<absl::Status(const ExportNode&)>& visit);

absl::StatusOr<std::optional<MembershipPath>> FindPath(NodeStore* store, Inner* anchor,
                                                       std::string_view key);

absl::Status VisitLeavesSince(
    NodeStore* store, Inner* anchor, int64_t after,
    const std::function<absl::Status(std::string_view key, std::string_view value,
                                     int64_t version)>& visit);

// Where both trees are of one store, nodes that both have and that are in memory below `from` are
// put below `to` as well.
absl::Status VisitDifferences(
    NodeStore* from_store, Inner* from, NodeStore* to_store, Inner* to,
    const std::function<absl::Status(std::string_view key, std::optional<std::string_view> before,
                                     std::optional<std::string_view> after)>& visit);

}  // namespace blockreplay::storage::iavl
