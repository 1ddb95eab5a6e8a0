#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/iavl/codec.h"
#include "storage/iavl/node_store.h"
#include "storage/kv/store.h"
#include "storage/kv/write_batch.h"

namespace blockreplay::storage::iavl {

// The versions of one tree in a database: which exist, where their roots are, and how Go's
// nodedb.go removes them. Holds nothing in memory.
class DiskVersions {
 public:
  // `store` outlives this object; its database and prefix are used, its nodes are not.
  // `leaves_nothing`: pruning also removes the leaf that Go forgets where a tree once had one key.
  DiskVersions(const NodeStore* store, bool leaves_nothing)
      : store_(store), leaves_nothing_(leaves_nothing) {}

  // 0 if there is none.
  absl::StatusOr<int64_t> Latest() const;
  absl::StatusOr<int64_t> LatestLegacy() const;
  // As Go finds it: the first legacy version, else by bisection for a root at (v, 1), since
  // versions are contiguous. A leaf that once was a root can lead that astray, and Go's pruning
  // then fails; here a version without a successor does not count.
  absl::StatusOr<int64_t> First(int64_t latest) const;
  absl::StatusOr<bool> Exists(int64_t version) const;
  // The legacy versions, ascending.
  absl::StatusOr<std::vector<int64_t>> LegacyVersions() const;

  // Where the root of `version` is; nothing for an empty tree. kNotFound if there is no such
  // version.
  absl::StatusOr<std::optional<NodeId>> Root(int64_t version) const;

  // Calls `visit` for every node of tree `version` that tree `version + 1` does not have, with the
  // node's place and hash.
  absl::Status VisitOrphans(
      int64_t version,
      const std::function<absl::Status(const NodeId& id, const Hash& hash)>& visit) const;

  // Appends the removal of a version of the new format, the next version being in the database.
  // `*moved`: see DeleteRoot.
  absl::Status DeleteVersion(int64_t version, WriteBatch* batch,
                             std::optional<std::string>* moved) const;
  // Appends the removal of one node that only `version` and older ones had.
  void DeleteOrphan(int64_t version, const NodeId& id, const Hash* hash, WriteBatch* batch) const;
  // Appends what removing the root of `version` takes beside its orphans. `next_root`: root of the
  // next version.
  // `*moved` is set to the root's record if that lives on at (version, 0).
  absl::Status DeleteRoot(int64_t version, const std::optional<NodeId>& root,
                          const std::optional<NodeId>& next_root, WriteBatch* batch,
                          std::optional<std::string>* moved) const;
  // Appends the removal of the last legacy version's orphans.
  absl::Status DeleteLegacyOrphans(int64_t latest_legacy, WriteBatch* batch) const;
  // Appends the removal of all legacy roots and orphan records, and of the nodes that the latter
  // name.
  absl::Status DeleteLegacyRecords(int64_t latest_legacy, WriteBatch* batch) const;

  // Appends the removal of every version above `version`.
  absl::Status DeleteVersionsAbove(int64_t version, WriteBatch* batch) const;

 private:
  struct DiskNode;
  class Walk;

  std::string Key(std::string_view below) const;
  absl::Status ReadNode(const NodeId& id, int max_height, DiskNode* node) const;
  absl::Status DeleteLegacyNodesFrom(int64_t version, const Hash& hash, int max_height,
                                     WriteBatch* batch) const;
  // The last key in [start, end), or the first one.
  absl::StatusOr<std::optional<std::string>> EdgeKey(std::string_view start, std::string_view end,
                                                     Direction direction) const;

  const NodeStore* store_;
  const bool leaves_nothing_;
};

}  // namespace blockreplay::storage::iavl
