#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/commit_tree.h"
#include "storage/kv/engine.h"
#include "storage/multistore/commit_info.h"
#include "storage/multistore/tree_kind.h"

namespace blockreplay::storage {

class MultistoreView;

struct StoreSpec {
  std::string name;
  const TreeKind* kind = IavlKind();
};

// What an upgrade of the chain does to the set of stores. It takes place in the first version that
// is committed.
struct StoreUpgrades {
  struct Rename {
    std::string from;
    std::string to;
  };
  std::vector<std::string> added;
  std::vector<std::string> deleted;  // these are among the stores that are opened
  std::vector<Rename> renamed;       // `to` is among the stores that are opened, `from` is not

  bool empty() const { return added.empty() && deleted.empty() && renamed.empty(); }
};

struct MultistoreOptions {
  // The stores of the chain. Empty: those of the version that is opened. A store of that version
  // that is missing here, and one here that the version does not have, are errors unless `upgrades`
  // says why.
  std::vector<StoreSpec> stores;
  StoreUpgrades upgrades;
  CommitFormat format = CommitFormat::kSdk;
  // Version of the first commit in an empty database; 0 and 1 mean 1.
  int64_t initial_version = 0;

  Persistence persistence = Persistence::kDeferred;
  Durability durability = Durability::kProcessCrash;

  // kEvery: write the Go node's fast storage.
  bool fast_nodes = true;
  // kEvery: as the Go node's custom pruning: at every version v that `prune_interval` divides,
  // versions up to v - 1 - keep_recent go. 0: nothing is pruned.
  int64_t prune_interval = 0;
  // kDeferred: that many of the last versions stay readable, and are in the database after a flush;
  // at least 1. Above 1 nodes are copied instead of changed.
  int64_t keep_recent = 1;

  // kDeferred: a flush comes after this many versions, or when the nodes to be written reach this
  // many bytes. A flush is one batch, so the latter also bounds memory: about three times as much
  // for a short time.
  int64_t flush_interval_blocks = 500;
  size_t flush_bytes = size_t{64} << 20;

  // Rollback of single versions: cheap with it, for the price of copied nodes; without it a
  // deferred multistore is read from the database again.
  bool copy_on_write = false;
  // Bound for the nodes that all trees together keep in memory between versions.
  size_t cache_bytes = size_t{256} << 20;
  // Threads that hash and serialise stores, the caller's included.
  int threads = 1;
};

// Named trees with one version number and one hash: what `rootmulti` of cosmossdk.io/store v1.1 is,
// over an Engine.
//
// A version is made by writes to the stores, WorkingCommit (its hash) and Commit; Rollback gives it
// up. Everything that a version changes in the database is one atomic batch, which is written in
// the background while the next version is made. With kEvery the database has the Go node's
// contents for the same history, with kDeferred after each flush those of a pruned one, and
// `blockreplay/wal/` keys in between. A process that dies at any moment leaves a database that
// opens at the last version that was written.
//
// Databases that a Go node wrote may have stores ahead of `s/latest` (it died between two stores):
// what is ahead is removed when the database is opened.
//
// Threads: one at a time, stores included. Errors name version and store:
//   kDataLoss            the database contradicts itself, or a replayed version has another hash
//   kNotFound            no such version or store
//   kFailedPrecondition  the stores asked for are not those of the database; calls out of order
//   others               the engine's; they surface on a later call when a background write failed
// After an error from a store's write, WorkingCommit or Commit only Rollback and Close are of use.
class Multistore {
 public:
  // Opens the last version in `engine`, which must outlive the multistore, and makes the versions
  // again that are in the write-ahead log only.
  static absl::StatusOr<std::unique_ptr<Multistore>> Open(Engine* engine,
                                                          const MultistoreOptions& options);

  // Does not flush: what is committed is in the write-ahead log. Waits for the background write.
  ~Multistore();
  Multistore(const Multistore&) = delete;
  Multistore& operator=(const Multistore&) = delete;

  // Last committed version, 0 if there is none.
  int64_t version() const;
  const CommitInfo& last_commit() const;
  // App hash of last_commit().
  Hash app_hash() const;

  // Ascending. Stores whose deletion is under way are not among them.
  const std::vector<std::string>& store_names() const;
  // The store, to read the last version with the writes since, and to write; null if there is none.
  // Valid as long as the multistore and the store exist. Empty keys are kInvalidArgument, as the Go
  // node refuses them.
  Store* store(std::string_view name);
  // The tree behind it, to be read only; valid until the next Rollback that had to reload.
  const CommitTree* tree(std::string_view name) const;

  // Commit info and hash that the next version will have if nothing more is written; hashes the
  // stores in parallel.
  absl::StatusOr<CommitInfo> WorkingCommit(const BlockTime& time);
  // Makes the version that WorkingCommit described last. kFailedPrecondition without it or if a
  // store was written since.
  absl::Status Commit();
  // Forgets the writes since the last Commit.
  absl::Status Rollback();

  // Waits until everything committed is written.
  absl::Status Sync();
  // kDeferred: writes the nodes, drops the write-ahead log and waits for it. Nothing else with
  // kEvery.
  absl::Status Flush();
  // Flush, and no more versions. The multistore can only be destroyed afterwards.
  absl::Status Close();

  // Throws away all versions after `target` and goes on from there, as the Go node's rollback does:
  // `s/<target>` is written again with the zero time, later `s/<version>` records stay.
  absl::Status RollbackToVersion(int64_t target);

  // A committed version, read-only; 0 for the last. kNotFound where it is not retained. Must not
  // outlive the multistore and is for the same thread. The last version of a deferred multistore is
  // invalidated by the next write.
  absl::StatusOr<std::unique_ptr<MultistoreView>> View(int64_t version);

  struct Stats {
    std::vector<int64_t> worker_cpu_nanos;  // hashing threads without the caller
    int64_t committer_cpu_nanos = 0;
    size_t tree_bytes = 0;   // nodes in memory
    size_t dirty_bytes = 0;  // of them not written (kDeferred)
    int64_t flushes = 0;
    int64_t flushed_version = 0;  // `s/latest` as of the last flush (kDeferred)
  };
  Stats stats() const;

 private:
  friend class MultistoreRestorer;
  friend class MultistoreView;
  class Impl;
  explicit Multistore(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace blockreplay::storage
