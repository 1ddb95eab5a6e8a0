#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/iavl/tree.h"
#include "storage/iavl/view.h"
#include "storage/kv/store.h"
#include "storage/kv/write_batch.h"

namespace blockreplay::storage::iavl {

struct ImportOptions {
  // Append the records of the nodes to the batches. Without it the tree exists in memory only, and
  // its first Flush writes all of it (kDeferred only).
  bool write_records = true;
  // Keep about this many bytes of nodes in memory for the tree that Finish returns; the rest is
  // read from the database when needed. Unlimited without write_records.
  size_t memory_limit = SIZE_MAX;
};

// Builds a tree from an export stream (ExportNode, post-order), as Go's Import does, with the node
// keys that it gives: the i-th node of version w has nonce i+1, the root nonce 1. The stream is
// untrusted: heights, order of the keys and versions are checked, and memory stays bounded by
// `memory_limit`, the depth of the tree and 12 bytes for each distinct version. The root hash is
// the caller's to compare.
class Importer {
 public:
  // `version`: the one that the imported tree has. There must be nothing below `prefix` in the
  // database.
  Importer(std::string prefix, const TreeOptions& options, int64_t version,
           const ImportOptions& import_options);
  ~Importer();

  // Appends the records that became final to `batch`; the caller writes and clears it whenever it
  // likes.
  absl::Status Add(const ExportNode& node, WriteBatch* batch);
  // Ends the stream. With write_records all batches must be visible in `db` before the tree is
  // used.
  absl::StatusOr<std::unique_ptr<Tree>> Finish(const Reader* db, WriteBatch* batch);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace blockreplay::storage::iavl
