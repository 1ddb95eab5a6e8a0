#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/iavl/node_store.h"

namespace blockreplay::storage::iavl {

// Places of saved nodes that the working version no longer has.
struct Orphans {
  struct Key {
    int64_t version;
    uint32_t nonce;
  };
  std::vector<Key> keys;
  // Of legacy nodes, and of roots that were rewritten from legacy ones.
  std::vector<Hash> legacy;
};

// Writes below an anchor: insertion, removal and balancing as github.com/cosmos/iavl does them,
// since every rotation shows in the hashes. Nodes of the working version, and saved ones that
// nobody else refers to, are changed in place; shared ones are copied.
class Editor {
 public:
  Editor(NodeStore* store, Inner* anchor) : store_(store), anchor_(anchor) {}

  // True if the key existed. After an error the tree is unusable.
  absl::StatusOr<bool> Set(std::string_view key, std::string_view value);
  absl::StatusOr<bool> Delete(std::string_view key);

  // The version being built: a node of that version is not saved yet.
  int64_t working_version = 1;
  // Collects saved nodes that are replaced or removed.
  Orphans* orphans = nullptr;
  // Bytes of nodes above NodeStore::persisted_version, roughly.
  size_t dirty_bytes = 0;

 private:
  // A node on the path and the side on which the path leaves it. The first one is the anchor.
  struct Step {
    Inner* node;
    int side;
  };

  bool IsNew(const Inner* parent, int side) const {
    return parent->version(side) == working_version;
  }
  void Orphan(Inner* parent, int side);
  void MarkNew(Inner* parent, int side);
  void AttachNew(Inner* parent, int side, Node* node);
  // The child, changeable, as a node of the working version.
  Inner* Mutable(Inner* parent, int side);
  // As Mutable for a child that may not be in memory; null and an error if it cannot be read or is
  // a leaf.
  Inner* LoadMutable(Inner* parent, int side, absl::Status* status);
  void Overwrite(Inner* parent, int side, std::string_view value);
  void Split(Inner* parent, int side, std::string_view key, std::string_view value);
  Inner* ReplaceKey(Inner* parent, int side, std::string_view key);

  // Going up from path_[depth], below which the height changed by `delta` to `height`: sizes change
  // by `delta`, heights and balance follow. `*new_key` becomes the key of the first node whose
  // right side the path took, if not null.
  absl::Status Ascend(int depth, int delta, int height, const std::string* new_key);
  absl::Status Rebalance(Inner* parent, int side);
  absl::Status ResolveBalance(Inner* parent, int side);
  absl::Status DeduceBalance(Inner* node, int side, int child_height, const NodeId& id);
  absl::Status TooHigh() const;
  absl::StatusOr<int64_t> SizeOfChild(Inner* node, int side);
  size_t BlockBytes(const Node* node) const { return (NodeBytes(node) + 63) / 64 * 64; }

  NodeStore* store_;
  Inner* anchor_;
  Step path_[kMaxHeight + 2];
  std::string removed_key_;
};

}  // namespace blockreplay::storage::iavl
