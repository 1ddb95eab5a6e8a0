#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "storage/commit_tree.h"
#include "storage/kv/store.h"
#include "storage/kv/write_batch.h"

namespace blockreplay::storage {

enum class Persistence {
  // Every version is in the database as the Go node writes it.
  kEvery,
  // Trees live in memory; the database has a write-ahead record for each version, and the nodes of
  // the last versions
  // as of the last flush.
  kDeferred,
};

// Which tree a store has: what a multistore needs to know beyond CommitTree. Implementations are
// stateless and thread-safe.
class TreeKind {
 public:
  virtual ~TreeKind() = default;

  struct Settings {
    Persistence persistence = Persistence::kDeferred;
    bool fast_nodes = false;        // kEvery: keep the Go node's fast storage
    int64_t initial_version = 1;    // of a tree without versions
    int64_t retained_versions = 1;  // kDeferred: how many of the last versions stay readable
    bool copy_on_write = false;     // make Rollback cheap
  };

  // Opens `version` of the store's tree; 0 for a tree that has no version yet. With `delete_later`,
  // appends the removal of every later version, which a node left there that died between two
  // stores or that is rolled back. What opening has to write goes to `*batch`.
  virtual absl::StatusOr<std::unique_ptr<CommitTree>> Load(const Reader* db,
                                                           const std::string& store,
                                                           const Settings& settings,
                                                           int64_t version, bool delete_later,
                                                           WriteBatch* batch) const = 0;
  // Latest version of the store's tree in the database, 0 if there is none.
  virtual absl::StatusOr<int64_t> LatestVersion(const Reader& db,
                                                const std::string& store) const = 0;
  // Bytes of a deferred tree's nodes that the next Flush writes.
  virtual size_t DirtyBytes(const CommitTree& tree) const = 0;
};

// IAVL v1 below `s/k:<store>/`.
const TreeKind* IavlKind();

}  // namespace blockreplay::storage
