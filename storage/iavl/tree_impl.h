#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/iavl/disk_versions.h"
#include "storage/iavl/editor.h"
#include "storage/iavl/node_store.h"
#include "storage/iavl/tree.h"
#include "storage/iavl/view_source.h"

namespace blockreplay::storage::iavl {

class Tree::Impl {
 public:
  // An empty tree without versions.
  Impl(const Reader* db, std::string prefix, const TreeOptions& options);
  // For the importer: `store` and `anchor` hold the tree of `version`, persisted or not.
  Impl(std::unique_ptr<NodeStore> store, Inner* anchor, const TreeOptions& options,
       int64_t version);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  absl::Status Load(int64_t version, bool overwrite, WriteBatch* batch);

  absl::StatusOr<bool> Set(std::string_view key, std::string_view value);
  absl::StatusOr<bool> Delete(std::string_view key);
  absl::StatusOr<Hash> WorkingHash();
  absl::StatusOr<Hash> Commit(WriteBatch* batch);
  absl::Status Flush(WriteBatch* batch);
  absl::Status Rollback();
  absl::Status DeleteVersionsTo(int64_t version, WriteBatch* batch);
  absl::Status SetInitialVersion(int64_t version);
  absl::StatusOr<bool> Available(int64_t version) const;
  absl::StatusOr<std::vector<int64_t>> AvailableVersions() const;
  absl::StatusOr<std::unique_ptr<View>> GetImmutable(int64_t version);
  void Trim(size_t target);

  NodeStore* store() const { return store_.get(); }
  Inner* anchor() const { return anchor_; }
  int64_t version() const { return version_; }
  int64_t next_version() const { return editor_.working_version; }
  const Hash& hash() const { return hash_; }
  int64_t first_version() const { return first_; }
  size_t dirty_bytes() const { return editor_.dirty_bytes; }
  int64_t size() const;
  int32_t height() const;

 private:
  // What is known of a committed version since it was loaded or made.
  struct VersionInfo {
    int64_t version = 0;
    std::optional<NodeId> root;  // nothing: an empty tree
    Inner* anchor = nullptr;     // holds the version's nodes, where they are kept
    Orphans orphans;             // nodes that the next version does not have
  };

  // A node of the working version, by its place.
  struct NewNode {
    Inner* parent;
    int side;
  };

  bool every() const { return options_.persist == Persist::kEvery; }
  bool keeps_roots() const { return options_.copy_on_write || options_.retained_versions > 1; }
  static std::optional<NodeId> RootOf(const Inner* anchor);
  VersionInfo* FindInfo(int64_t version);
  void PushInfo();
  void DropInfo(VersionInfo* info);

  void CollectNew(Inner* parent, int side);
  absl::Status HashNew();
  void EncodeRecord(const Inner* parent, int side, std::string* record) const;
  void PutNode(const Inner* parent, int side, WriteBatch* batch);
  void WriteNew(WriteBatch* batch);
  absl::Status WriteVersion(WriteBatch* batch);
  absl::StatusOr<std::optional<Hash>> AdoptExisting();
  // Flush: nodes above the persisted version.
  void CollectUnpersisted(Inner* parent, int side, int64_t flushed_before,
                          std::vector<NewNode>* nodes);
  void WriteUnpersisted(Inner* anchor, int64_t flushed_before, WriteBatch* batch);
  void MoveIfNoVersion(Inner* parent, int side, int64_t flushed_before);
  absl::Status WriteRoot(Inner* anchor, int64_t version, WriteBatch* batch);

  // Removes what only the version of `info` and older ones needed.
  absl::Status Expire(VersionInfo& info, const std::optional<NodeId>& next_root, WriteBatch* batch);
  // Deferred: forgets versions up to `version`.
  absl::Status ForgetTo(int64_t version);
  absl::Status PruneDiskTo(int64_t version, WriteBatch* batch);
  absl::Status PruneEveryTo(int64_t version, WriteBatch* batch);
  // The root of `version` now stands at (version, 0).
  absl::Status RenameRoot(int64_t version, const std::string& record);
  void LimitOrphans();

  absl::Status SyncFastStorage(int64_t latest, bool force, WriteBatch* batch);
  void PutStorageVersion(int64_t version, WriteBatch* batch) const;
  absl::Status CheckPart(std::string_view part, const char* name) const;

  TreeOptions options_;
  std::unique_ptr<NodeStore> store_;
  DiskVersions disk_;
  Inner* anchor_;
  Editor editor_;
  std::shared_ptr<OpenViews> open_views_ = std::make_shared<OpenViews>();

  int64_t version_ = 0;
  Hash hash_{};
  size_t committed_dirty_bytes_ = 0;  // at the last commit or flush
  bool pending_ = false;              // writes since the last commit
  bool hashed_ = false;               // new nodes have their hashes and nonces
  std::deque<VersionInfo> infos_;     // contiguous, the last one is version_
  size_t orphan_keys_ = 0;            // in infos_

  int64_t disk_latest_ = 0;  // when it was loaded
  int64_t latest_legacy_ = 0;
  int64_t first_ = 0;       // first version that can be read
  int64_t disk_first_ = 0;  // deferred: first version in the database
  WriteBatch removals_;     // deferred: what the next Flush removes

  // Fast storage.
  std::string fast_prefix_;      // of the store and of fast nodes
  std::string storage_version_;  // the part before the dash
  std::vector<std::string> removed_keys_;

  std::vector<NewNode> new_nodes_;  // in pre-order, valid while hashed_
  std::string record_;              // reused
};

}  // namespace blockreplay::storage::iavl
