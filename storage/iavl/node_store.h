#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/iavl/arena.h"
#include "storage/iavl/node.h"
#include "storage/kv/store.h"

namespace blockreplay::storage::iavl {

// The nodes of one tree in memory, and the way to those in the database. Nodes are counted by
// reference: one for each parent, view or iterator that points to them; a node with one reference
// below a chain of such nodes may be changed in place. One thread at a time.
class NodeStore {
 public:
  NodeStore(const Reader* db, std::string prefix);
  ~NodeStore();
  NodeStore(const NodeStore&) = delete;
  NodeStore& operator=(const NodeStore&) = delete;

  const Reader* db() const { return db_; }
  void set_db(const Reader* db) { db_ = db; }
  const std::string& prefix() const { return prefix_; }
  size_t live_bytes() const { return arena_.live_bytes(); }

  // New nodes have one reference, which is the caller's to hand on. Children of inner nodes are
  // unset.
  Leaf* NewLeaf(std::string_view key, std::string_view value);
  Inner* NewInner(std::string_view key);
  // An anchor without a root.
  Inner* NewAnchor();
  // Same children (each gets a reference more), with `key` as its key.
  Inner* CopyInner(const Inner* node, std::string_view key);
  // Frees the node's memory, not its children.
  void FreeShallow(Node* node);

  static void Ref(Node* node) { ++node->refs; }
  // Frees the node, and what only it pointed to, if this was the last reference.
  void Unref(Node* node);

  // The child, read from the database if it is not in memory; null and `*status` set on errors.
  Node* Child(Inner* parent, int side, absl::Status* status) {
    if (Node* node = parent->child[side]) [[likely]]
      return node;
    return Load(parent, side, status);
  }

  // Makes parent->hash(side) valid for a child that is not new.
  absl::Status EnsureHash(Inner* parent, int side);

  // Points `anchor` to the root `id`, not in memory.
  static void SetStubRoot(Inner* anchor, const NodeId& id);
  // Drops the root of `anchor`.
  void ClearRoot(Inner* anchor);

  // Gives `to` the child that `from` has, with version, nonce, hash and flags. No counting.
  static void MoveChild(Inner* from, int from_side, Inner* to, int to_side);

  // Drops nodes below `anchor` that are in the database and were not used since the last sweep,
  // until no more than `target` bytes are in use or everything was looked at twice.
  void Sweep(Inner* anchor, size_t target);

  // Nodes up to this version are in the database.
  int64_t persisted_version = 0;
  // What the last Trim asked for. Scans drop what they loaded while more is in use.
  size_t memory_target = std::numeric_limits<size_t>::max();
  // While there are any, nothing is dropped.
  int open_iterators = 0;

  // "<prefix>, node (3,1): <what>", for errors.
  absl::Status Corrupt(const NodeId& id, std::string_view what) const;
  // For a record that is no node: kOutOfRange where a partial state left the node out, else
  // Corrupt.
  absl::Status NoNode(const NodeId& id, std::string_view record, std::string_view what) const;

  // The record of a node, with the fallback for a root that pruning moved from (version, 1) to
  // (version, 0); false if absent.
  // `*moved` tells that the fallback was taken.
  absl::StatusOr<bool> ReadRecord(const NodeId& id, std::string* record, bool* moved) const;

 private:
  Node* Load(Inner* parent, int side, absl::Status* status);
  bool SweepBelow(Inner* parent, int side, bool resuming, size_t target);

  const Reader* db_;
  const std::string prefix_;
  Arena arena_;
  std::string record_;  // reused
  mutable std::string db_key_;
  std::string sweep_hand_;  // key at which the next sweep goes on
};

}  // namespace blockreplay::storage::iavl
