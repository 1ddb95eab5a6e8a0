#pragma once

// A version of a tree as a sequence of its nodes, and back into a database: what a recording's base
// has of it. The shape of a B+ tree is what its history made of it, so keys and values alone would
// not do.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/bptree/node.h"
#include "storage/bptree/record.h"
#include "storage/kv/store.h"
#include "storage/kv/write_batch.h"

namespace blockreplay::storage::bptree {

struct CopiedEntry {
  std::string_view key;
  std::string_view value;
  RecordKey value_key;
};

// A leaf has entries, an inner node separators, which are one fewer than its children.
struct CopiedNode {
  RecordKey record;
  std::vector<CopiedEntry> entries;
  std::vector<std::string_view> separators;
};

// Calls `visit` for each node of `version`, children from left to right before their parent; for
// ForEachChange.
absl::Status VisitTree(const Reader& database, std::string_view key_prefix, int64_t version,
                       const std::function<absl::Status(const CopiedNode&)>& visit);

// Makes the records of a tree from what VisitTree told. Checks what the tree's code relies on: the
// numbers of entries and children, heights, the order of all keys and separators, versions.
class TreeRestorer {
 public:
  TreeRestorer(std::string key_prefix, int64_t version)
      : prefix_(std::move(key_prefix)), version_(version) {}

  // kInvalidArgument where the node cannot come here.
  absl::Status Add(const CopiedNode& node, WriteBatch* batch);
  // The root's record, and its hash. kInvalidArgument if a parent is missing.
  absl::StatusOr<Hash> Finish(WriteBatch* batch);

 private:
  // A subtree that waits for its parent.
  struct Subtree {
    Child child;
    int height = 0;
    std::string first_key;
    std::string last_key;
  };

  absl::Status AddLeaf(const CopiedNode& node, WriteBatch* batch);
  absl::Status AddInner(const CopiedNode& node, WriteBatch* batch);
  void Put(char type, RecordKey key, std::string_view record, WriteBatch* batch);

  const std::string prefix_;
  const int64_t version_;
  std::vector<Subtree> waiting_;
};

}  // namespace blockreplay::storage::bptree
