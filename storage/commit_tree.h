#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "storage/kv/store.h"
#include "storage/kv/write_batch.h"

namespace blockreplay::storage {

using Hash = std::array<uint8_t, 32>;

// A versioned authenticated tree: the store behind one name of a multistore. IAVL is the first;
// which tree a store has is the chain's choice. The multistore drives every tree through this
// interface and knows no other.
//
// A version is built by Set and Delete on top of the last one, hashed, and committed. Nothing
// reaches the database until the caller writes the batch that Commit filled, so the caller decides
// what is atomic with what: drop the tree object and the batch, and the last committed version is
// what a fresh load finds.
//
// Threads: one at a time; different trees of one engine may be used by different threads at once.
class CommitTree : public Store {
 public:
  // Last committed version; 0 if there is none.
  virtual int64_t version() const = 0;
  // Root hash of the last committed version.
  virtual Hash hash() const = 0;
  // Number of keys, pending writes included; 0 for a store that does not count them.
  virtual int64_t size() const = 0;
  // The version that the next Commit makes.
  virtual int64_t next_version() const = 0;
  // Root hash that the next Commit will have. Hashes the new nodes; cheap when called again without
  // writes.
  virtual absl::StatusOr<Hash> WorkingHash() = 0;
  // Makes the pending writes version next_version() and appends to `*batch` what its persistence
  // mode asks for.
  virtual absl::StatusOr<Hash> Commit(WriteBatch* batch) = 0;
  // Deferred persistence: appends the nodes of the retained versions that the database lacks, and
  // the removal of those that it has and no retained version needs. Nothing where every version is
  // persisted by Commit.
  virtual absl::Status Flush(WriteBatch* batch) = 0;
  // Forgets the writes since the last Commit. kFailedPrecondition where the tree mutates its nodes
  // in place.
  virtual absl::Status Rollback() = 0;
  // Makes versions up to and including `version` unreadable and appends the removal of what only
  // they needed.
  virtual absl::Status DeleteVersionsTo(int64_t version, WriteBatch* batch) = 0;
  // Bytes of nodes in memory, and a request to bring them down to about `target` by dropping nodes
  // that the database has: call after the batch with them has been written.
  virtual size_t memory_bytes() const = 0;
  virtual void Trim(size_t target) = 0;
};

}  // namespace blockreplay::storage
