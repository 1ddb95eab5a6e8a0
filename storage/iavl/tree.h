#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/commit_tree.h"
#include "storage/iavl/view.h"
#include "storage/kv/store.h"
#include "storage/kv/write_batch.h"

namespace blockreplay::storage::iavl {

enum class Persist {
  kEvery,     // Commit appends what the Go implementation writes for the version
  kDeferred,  // Commit appends nothing; Flush appends the nodes that are still alive
};

struct TreeOptions {
  Persist persist = Persist::kDeferred;
  // Keep the 'f' records and the storage version of Go's fast storage up to date. Only with kEvery;
  // deferred trees leave stale ones to be rebuilt by the next Go node that opens the database.
  bool fast_nodes = false;
  // Version of the first commit of a tree that has none; 0 and 1 mean 1.
  int64_t initial_version = 0;
  // kDeferred only: how many of the latest versions stay readable through GetImmutable, and are on
  // disk after a Flush; at least 1. Above 1 the tree copies nodes instead of changing them. With
  // kEvery all versions stay until DeleteVersionsTo.
  int64_t retained_versions = 1;
  // Makes Rollback cheap in every mode (and possible at all with kDeferred), for the price of
  // copying the nodes of every changed path. Without it kDeferred cannot roll back, and kEvery does
  // so by forgetting its nodes in memory.
  bool copy_on_write = false;
};

// An IAVL tree as github.com/cosmos/iavl v1.2 keeps it, byte for byte (fixtures/iavl/SPEC.md): node
// hashes, node keys, records in the database, legacy (before 1.0) nodes included. All its keys in
// the database begin with `prefix`
// ("s/k:<store>/" below a multistore).
//
// Nodes live in memory; those that are not there are read from the database when needed. The batch
// of a Commit, Load or Flush must be visible in `db` before the next Trim, Flush, Rollback or
// GetImmutable, and before the second DeleteVersionsTo after it; reads and writes in between find
// their nodes in memory.
//
// Threads: one at a time for a tree and its views, reads included; trees share nothing, so
// different ones may run in parallel over one database.
//
// Errors: kDataLoss where the database's records are corrupt (names prefix, node key and reason),
// kNotFound for a version that does not exist. After an error from Set, Delete, WorkingHash or
// Commit the tree must be dropped.
class Tree : public CommitTree {
 public:
  // Opens version `version` of the tree, 0 for the latest. Appends to `batch` what opening changes
  // in the database: the fast storage where it is on and not up to date (as many records as the
  // tree has keys).
  static absl::StatusOr<std::unique_ptr<Tree>> Load(const Reader* db, std::string prefix,
                                                    const TreeOptions& options, int64_t version,
                                                    WriteBatch* batch);
  // As Load, and appends the removal of every later version.
  static absl::StatusOr<std::unique_ptr<Tree>> LoadForOverwriting(const Reader* db,
                                                                  std::string prefix,
                                                                  const TreeOptions& options,
                                                                  int64_t version,
                                                                  WriteBatch* batch);
  // Latest version in the database, 0 if there is none. Opens no tree.
  static absl::StatusOr<int64_t> LatestVersion(const Reader* db, std::string_view prefix);

  ~Tree() override;

  // Store. Reads see the pending writes. An empty key is allowed. An iterator reads the state in
  // which it was made, also while the tree is written to, but must be gone before Commit, Flush,
  // Rollback and Trim.
  absl::StatusOr<bool> Get(std::string_view key, std::string* value) const override;
  absl::StatusOr<bool> Has(std::string_view key) const override;
  std::unique_ptr<Iterator> NewIterator(const KeyRange& range, Direction direction) const override;
  absl::Status Set(std::string_view key, std::string_view value) override;
  absl::Status Delete(std::string_view key) override;

  // As Set and Delete; true if the key existed before.
  absl::StatusOr<bool> SetAndReport(std::string_view key, std::string_view value);
  absl::StatusOr<bool> DeleteAndReport(std::string_view key);
  // As Get without a copy: the value's bytes until the next call that is not const, or nothing if
  // the key is absent.
  absl::StatusOr<std::optional<std::string_view>> Find(std::string_view key) const;

  // CommitTree.
  int64_t version() const override;
  Hash hash() const override;
  int64_t next_version() const override;
  absl::StatusOr<Hash> WorkingHash() override;
  absl::StatusOr<Hash> Commit(WriteBatch* batch) override;
  // kFailedPrecondition with writes pending, and while a view reads a version that is no longer
  // kept: views of a deferred tree must be gone before the Flush that removes what they read.
  absl::Status Flush(WriteBatch* batch) override;
  absl::Status Rollback() override;
  // With kEvery: as Go's DeleteVersionsTo, `version` must be below version(). Legacy versions go
  // all at once when `version` reaches the last of them. With kDeferred: versions above the last
  // flushed one are forgotten; those on disk are removed by the next Flush.
  absl::Status DeleteVersionsTo(int64_t version, WriteBatch* batch) override;
  size_t memory_bytes() const override;
  void Trim(size_t target) override;

  // Version of the first commit, for a tree that has none yet (kFailedPrecondition otherwise).
  absl::Status SetInitialVersion(int64_t version);

  // Number of keys and height, pending writes included.
  int64_t size() const override;
  int32_t height() const;

  // Bytes of nodes that the next Flush writes, roughly: what a deferred tree cannot trim.
  size_t dirty_bytes() const;

  // First version that GetImmutable can open, 0 if there is none.
  absl::StatusOr<int64_t> FirstVersion() const;
  absl::StatusOr<std::vector<int64_t>> AvailableVersions() const;
  // kNotFound if the version does not exist or is not retained. A view of the latest version shares
  // the nodes in memory (writes then copy what it sees); others are read from the database, or from
  // memory where it keeps them. A version that is in memory only and has writes pending on top is
  // refused with kFailedPrecondition, unless its nodes are kept (retained_versions, copy_on_write).
  // Must not outlive the tree.
  absl::StatusOr<std::unique_ptr<View>> GetImmutable(int64_t version) const;

 private:
  friend class Importer;
  class Impl;

  explicit Tree(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace blockreplay::storage::iavl
