#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "storage/bptree/node.h"
#include "storage/bptree/record.h"
#include "storage/commit_tree.h"

namespace blockreplay::storage::bptree {

enum class Persist {
  // Commit writes the records that tm2 writes for the version.
  kEvery,
  // Commit writes nothing; Flush brings the database to the last version.
  kDeferred,
};

struct TreeOptions {
  // Stands before the keys of all records, such as "s/_/".
  std::string key_prefix;
  Persist persist = Persist::kEvery;
  // kDeferred: whether versions before the last one are retained until DeleteVersionsTo. If not,
  // nodes are changed in place and Rollback is refused.
  bool retain_history = true;
  // With history: how many of the last versions are retained; 0: all until DeleteVersionsTo.
  int64_t retained_versions = 0;
  // Maintain the `F` records. Only with kEvery: a database without them (or with old ones)
  // gets them when a node opens it.
  bool fast_index = true;
  // First version of a tree that has none yet.
  int64_t initial_version = 1;
};

// The B+ tree with 32 entries per node of tm2 (gnolang/gno, tm2/pkg/bptree), in memory as far as it
// was touched, with the records of the original. The shape, and so the root hash, depends on the
// order of operations: callers apply them in the order of the chain.
//
// Set of a present key makes a new version of it even if the value is the same; Delete of an absent
// key changes nothing. Empty keys and keys over 1 MiB are kInvalidArgument.
class Tree final : public CommitTree {
 public:
  // The tree as of `version` of `database`, which must outlive it; 0: the tree before any version.
  // kNotFound if the database lacks the version, kDataLoss if a record is malformed.
  static absl::StatusOr<std::unique_ptr<Tree>> Open(const Reader* database, TreeOptions options,
                                                    int64_t version);
  // As Open, and appends the removal of every later version.
  static absl::StatusOr<std::unique_ptr<Tree>> OpenForOverwriting(const Reader* database,
                                                                  TreeOptions options,
                                                                  int64_t version,
                                                                  WriteBatch* batch);
  // The last version that has a root record; 0 if there is none.
  static absl::StatusOr<int64_t> LatestVersion(const Reader& database, const TreeOptions& options);

  absl::StatusOr<bool> Get(std::string_view key, std::string* value) const override;
  absl::StatusOr<bool> Has(std::string_view key) const override;
  // Iterates over the tree as it is, pending writes included. Invalidated by writes and by Trim.
  std::unique_ptr<Iterator> NewIterator(const KeyRange& range, Direction direction) const override;
  // The value itself, valid until the next call that is not const. No copy, no allocation once the
  // node is in memory.
  absl::StatusOr<std::optional<std::string_view>> Find(std::string_view key) const;

  absl::Status Set(std::string_view key, std::string_view value) override;
  absl::Status Delete(std::string_view key) override;

  int64_t version() const override { return version_; }
  Hash hash() const override { return committed_hash_; }
  int64_t next_version() const override;
  absl::StatusOr<Hash> WorkingHash() override;
  absl::StatusOr<Hash> Commit(WriteBatch* batch) override;
  absl::Status Flush(WriteBatch* batch) override;
  absl::Status Rollback() override;
  absl::Status DeleteVersionsTo(int64_t version, WriteBatch* batch) override;
  size_t memory_bytes() const override { return memory_bytes_; }
  void Trim(size_t target) override;

  // Keys, pending writes included.
  int64_t size() const override { return size_; }
  // Bytes that the next Flush writes, roughly.
  size_t dirty_bytes() const { return dirty_bytes_; }
  // Levels above the leaves.
  int height() const { return root_ ? root_->height : 0; }

 private:
  friend class TreeIterator;

  // What one version stopped using; enough to prune the version before it.
  struct Orphans {
    std::vector<RecordKey> nodes;
    std::vector<RecordKey> values;
  };
  struct InsertResult {
    bool added = false;
    Ref<SharedKey> separator;
    Ref<Node> right;  // set if the node was split
  };
  // Where Commit and DeleteVersionsTo put records: the caller's batch, or what Flush will write.
  class Sink;

  Tree(const Reader* database, TreeOptions options)
      : database_(database), options_(std::move(options)) {}

  bool in_place() const {
    return options_.persist == Persist::kDeferred && !options_.retain_history;
  }

  absl::StatusOr<std::optional<std::string>> ReadRecord(std::string_view key) const;
  absl::StatusOr<Ref<Node>> ReadNode(RecordKey key, std::optional<int> height) const;
  // The child at `index`, loaded if it is not in memory.
  absl::StatusOr<Node*> LoadChild(InnerNode* parent, int index) const;
  absl::StatusOr<std::string_view> LoadValue(LeafNode* leaf, int position) const;
  // Null if the key is absent.
  absl::StatusOr<LeafNode*> FindLeaf(std::string_view key, int* position) const;

  // A node that this version may change, in place of a frozen one.
  void Edit(Ref<Node>* node);
  absl::StatusOr<Node*> EditChild(InnerNode* parent, int index);
  absl::StatusOr<InsertResult> Insert(Node* node, Ref<Entry> entry);
  InsertResult InsertIntoLeaf(LeafNode* leaf, Ref<Entry> entry);
  InsertResult SplitLeaf(LeafNode* leaf, int position, Ref<Entry> entry);
  InsertResult SplitInner(InnerNode* inner, int index, InsertResult from_child);
  // True if the node has fewer entries than a node other than the root may have.
  absl::StatusOr<bool> Remove(Node* node, std::string_view key);
  absl::StatusOr<bool> Rebalance(InnerNode* parent, int index);
  void BorrowFromLeft(InnerNode* parent, int index);
  void BorrowFromRight(InnerNode* parent, int index);
  void Merge(InnerNode* parent, int index);

  void AddPending(const Ref<Entry>& entry);
  void RemovePending(Entry* entry);
  void DropEntry(Entry* entry);

  // Names the new nodes below bottom-up and appends their records.
  void SaveNodes(Node* node, int64_t version, uint32_t* nonce, Sink* sink);
  absl::Status PruneVersion(int64_t version, int64_t next, Sink* sink);
  absl::Status PruneNodes(int64_t version, int64_t next, Sink* sink);
  absl::Status PruneVersionsTo(int64_t version, Sink* sink);
  absl::Status FlushInPlace(WriteBatch* batch);
  Ref<Node> NewNode(Node* node);
  // Writes all `F` records anew.
  absl::Status RebuildFastIndex(Sink* sink);
  void ResetSession();
  void TrimBelow(InnerNode* node, size_t target, bool used_too);
  size_t MemoryBelow(const Node* node) const;

  const Reader* const database_;
  const TreeOptions options_;

  mutable Ref<Node> root_;
  Ref<Node> committed_root_;  // not in place
  Hash committed_hash_ = EmptyTreeHash();
  int64_t version_ = 0;
  int64_t size_ = 0;
  int64_t committed_size_ = 0;
  mutable size_t memory_bytes_ = 0;
  size_t dirty_bytes_ = 0;

  // The version being built.
  bool changed_ = false;
  uint32_t next_value_nonce_ = 0;
  Orphans orphans_;
  std::vector<std::string> removed_keys_;
  // Entries whose value records are not written yet.
  std::vector<Ref<Entry>> pending_;

  // Versions that are readable, ascending.
  std::deque<int64_t> versions_;
  // By the version that orphaned them, for the versions made by this object.
  std::map<int64_t, Orphans> orphans_by_version_;
  // kDeferred with history: records by key that Flush will write; nothing for a removal.
  absl::flat_hash_map<std::string, std::optional<std::string>> unflushed_;
  // In place: records of the database that no version needs.
  Orphans dead_;
  int64_t flushed_version_ = 0;
  // The database has a later version than the one opened.
  bool read_only_ = false;
  // The database's `F` records are not those of the version opened.
  bool fast_index_stale_ = false;
};

}  // namespace blockreplay::storage::bptree
