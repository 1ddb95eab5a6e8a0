#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "absl/status/statusor.h"
#include "storage/kv/store.h"

namespace blockreplay::storage {

// A reader of another one, for walks over the IAVL trees of many versions. A version's new nodes
// are numbered in the order in which a walk meets them, and stand in the database in that order: as
// soon as two Gets follow each other so, an iterator answers those that come after, at a fraction
// of what a Get costs. What it has read of a store's newest version is kept: one of the next
// versions replaces most of it, and a comparison of the two reads it once more. Everything else is
// passed on.
//
// The database must not change, and must outlive the reader. For one thread.
class NodeReader final : public Reader {
 public:
  // `cache_bytes`: for nodes that are kept; 0 for walks over one version.
  explicit NodeReader(const Reader* db, size_t cache_bytes = 0)
      : db_(db), cache_bytes_(cache_bytes) {}

  absl::StatusOr<bool> Get(std::string_view key, std::string* value) const override;
  absl::StatusOr<bool> Has(std::string_view key) const override { return db_->Has(key); }
  std::unique_ptr<Iterator> NewIterator(const KeyRange& range, Direction direction) const override {
    return db_->NewIterator(range, direction);
  }

  // Gets that an iterator answered, and that the kept nodes did.
  uint64_t sequential() const { return sequential_; }
  uint64_t cached() const { return cached_; }

 private:
  // Where the last walk over a store's nodes is. An iterator is where the next node is expected.
  struct Cursor {
    std::string next_key;  // behind the last Get of a node
    std::unique_ptr<Iterator> iterator;
    std::string iterator_next_key;
    std::string newest;  // version, as in the keys
  };

  absl::StatusOr<bool> Ahead(std::string_view key, Cursor* cursor, std::string* value) const;

  void Keep(std::string_view key, const std::string& value, Cursor* cursor) const;
  bool TakeKept(std::string_view key, std::string* value) const;

  using Nodes = std::unordered_map<std::string, std::string>;

  const Reader* const db_;
  const size_t cache_bytes_;
  // What was read lately, and what was before that: the latter goes when the former is full.
  mutable Nodes recent_;
  mutable Nodes older_;
  mutable size_t recent_bytes_ = 0;
  mutable std::map<std::string, Cursor, std::less<>> cursors_;  // by store prefix
  mutable uint64_t sequential_ = 0;
  mutable uint64_t cached_ = 0;
};

}  // namespace blockreplay::storage
