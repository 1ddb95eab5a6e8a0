#pragma once

// Trees of which a part is there: some nodes, and for each subtree that was left out what the nodes
// above need of it. In a database the root of such a subtree has a record that says so
// (EncodeOmitted in codec.h); whoever gets there meets kOutOfRange instead of a node.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/commit_tree.h"
#include "storage/iavl/codec.h"
#include "storage/kv/store.h"
#include "storage/kv/write_batch.h"

namespace blockreplay::storage::iavl {

// The bytes live only during the call that hands them out.
struct PartialNode {
  NodeId id;
  int32_t height = 0;
  std::string_view key;
  std::string_view value;  // leaves
};

struct OmittedSubtree {
  NodeId id;  // of its root
  int32_t height = 0;
  int64_t size = 0;  // leaves
  Hash hash{};
};

// Walks tree `version` in post-order, left subtree first. Enters what `wanted` says yes to, and the
// root; of all else only the roots of subtrees are read. Legacy nodes are kUnimplemented.
absl::Status VisitPartialTree(const Reader* db, const std::string& prefix, int64_t version,
                              const std::function<bool(const NodeId&)>& wanted,
                              const std::function<absl::Status(const PartialNode&)>& on_node,
                              const std::function<absl::Status(const OmittedSubtree&)>& on_omitted);

// Makes the records of tree `version` out of what VisitPartialTree handed out, below a prefix
// without any. The input is untrusted: heights, sizes, balance, versions, places and the order of
// the known keys are checked, memory is bounded by the depth of a tree and 12 bytes for each item.
// What no hash above can show (places, keys of inner nodes, how two omitted siblings share their
// parent's size) is as good as its source, as in a snapshot. The root hash is the caller's to
// compare.
class PartialTreeBuilder {
 public:
  // `fast_nodes`: also the Go node's fast storage, of the leaves that are there.
  PartialTreeBuilder(std::string prefix, int64_t version, bool fast_nodes);
  ~PartialTreeBuilder();

  // Append records to `batch`, which the caller writes and clears whenever it likes.
  // kInvalidArgument says what is wrong with the item.
  absl::Status Add(const PartialNode& node, WriteBatch* batch);
  absl::Status Add(const OmittedSubtree& subtree, WriteBatch* batch);
  // Ends the tree; its root hash.
  absl::StatusOr<Hash> Finish(WriteBatch* batch);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace blockreplay::storage::iavl
