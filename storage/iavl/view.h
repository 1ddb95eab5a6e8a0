#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/commit_tree.h"
#include "storage/kv/store.h"

namespace blockreplay::storage::iavl {

class ViewSource;

// One node of the export stream: post-order, left subtree first. `value` is empty for inner nodes
// and set for leaves (height 0), also where the leaf's value has no bytes. The bytes live only
// during the call that hands them out.
struct ExportNode {
  std::string_view key;
  std::optional<std::string_view> value;
  int64_t version = 0;
  int32_t height = 0;
};

// An inner node on the way from a leaf to the root, as an ICS-23 inner operation needs it.
struct PathStep {
  int32_t height = 0;
  int64_t size = 0;
  int64_t version = 0;
  bool sibling_is_left = false;  // the path came up from the right child
  Hash sibling{};
};

// A leaf and all inner nodes above it, from the leaf to the root.
struct MembershipPath {
  std::string key;
  std::string value;
  int64_t version = 0;  // the leaf's
  std::vector<PathStep> steps;
};

// The leaves next to an absent key; a missing one means that the key would be the first or the
// last.
struct NeighbourPaths {
  std::optional<MembershipPath> left;
  std::optional<MembershipPath> right;
};

// A committed version of a tree, read-only. Nodes that are not in memory are read from the database
// and kept by the view, so reading changes it: one thread at a time. Must not outlive its tree's
// database, and not its tree if it was made by Tree::GetImmutable. While it lives, DeleteVersionsTo
// and Flush refuse to remove its version.
class View : public Reader {
 public:
  explicit View(std::unique_ptr<ViewSource> source);
  ~View() override;
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  int64_t version() const;
  // Root hash; SHA-256 of nothing for an empty tree.
  Hash hash() const;
  // Number of keys.
  int64_t size() const;
  // 0 for an empty tree and for a single leaf.
  int32_t height() const;

  absl::StatusOr<bool> Get(std::string_view key, std::string* value) const override;
  absl::StatusOr<bool> Has(std::string_view key) const override;
  std::unique_ptr<Iterator> NewIterator(const KeyRange& range, Direction direction) const override;

  // Calls `visit` for every node in export order until it returns an error, which is handed back.
  // Keeps no more than one path of nodes that were not in memory before.
  absl::Status Export(const std::function<absl::Status(const ExportNode&)>& visit) const;

  // The path of `key`, or nothing if it is absent.
  absl::StatusOr<std::optional<MembershipPath>> GetPath(std::string_view key) const;
  // Requires that `key` is absent (kInvalidArgument otherwise).
  absl::StatusOr<NeighbourPaths> GetNeighbours(std::string_view key) const;

  // Calls `visit` in key order for every leaf that was written in a version above `after`. Skips
  // what is older, so the cost follows the number of new nodes.
  absl::Status ForEachLeafSince(
      int64_t after, const std::function<absl::Status(std::string_view key, std::string_view value,
                                                      int64_t version)>& visit) const;

 private:
  friend absl::Status DiffLeaves(
      const View& from, const View& to,
      const std::function<absl::Status(std::string_view key, std::optional<std::string_view> before,
                                       std::optional<std::string_view> after)>& visit);

  std::unique_ptr<ViewSource> source_;
};

// Calls `visit` in key order for every key that the two views do not share as the same leaf. A key
// that was set again to the value it had is visited too (its leaf is another one). Subtrees that
// both have are not entered.
absl::Status DiffLeaves(
    const View& from, const View& to,
    const std::function<absl::Status(std::string_view key, std::optional<std::string_view> before,
                                     std::optional<std::string_view> after)>& visit);

}  // namespace blockreplay::storage::iavl
