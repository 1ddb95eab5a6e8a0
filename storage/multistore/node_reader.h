#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "storage/kv/store.h"

namespace blockreplay::storage {

// A reader of another one, for walks over IAVL trees. A version's new nodes are numbered in the
// order in which a walk meets them, and stand in the database in that order: as soon as two Gets
// follow each other so, an iterator answers those that come after, at a fraction of what a Get
// costs. Everything else is passed on.
//
// The database must not change, and must outlive the reader. For one thread.
class NodeReader final : public Reader {
 public:
  enum class Walk {
    kTree,        // one tree after the other
    kNewVersion,  // a tree is compared with an earlier version: the nodes of the later one follow
                  // each other, with some of the earlier one in between
  };
  explicit NodeReader(const Reader* db, Walk walk = Walk::kTree) : db_(db), walk_(walk) {}

  absl::StatusOr<bool> Get(std::string_view key, std::string* value) const override;
  absl::StatusOr<bool> Has(std::string_view key) const override { return db_->Has(key); }
  std::unique_ptr<Iterator> NewIterator(const KeyRange& range, Direction direction) const override {
    return db_->NewIterator(range, direction);
  }

  // Gets that an iterator answered, and how many iterators there were.
  uint64_t sequential() const { return sequential_; }
  uint64_t iterators() const { return iterators_; }

 private:
  // Where the last walk over a store's nodes is. An iterator is where the next node is expected.
  struct Cursor {
    std::string next_key;  // behind the last Get of a node
    std::unique_ptr<Iterator> iterator;
    std::string iterator_next_key;
    std::string newest;  // version, as in the keys; kNewVersion only
  };

  bool IsOfWalk(std::string_view key, const Cursor& cursor) const;
  absl::StatusOr<bool> Ahead(std::string_view key, Cursor* cursor, std::string* value) const;

  const Reader* const db_;
  const Walk walk_;
  mutable std::map<std::string, Cursor, std::less<>> cursors_;  // by store prefix
  mutable uint64_t sequential_ = 0;
  mutable uint64_t iterators_ = 0;
};

}  // namespace blockreplay::storage
