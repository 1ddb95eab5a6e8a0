#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/kv/store.h"

namespace blockreplay::storage {

// Writes kept in memory on top of a parent, which may be a Branch itself, until they are flushed or
// discarded. Holds the last operation per key: a delete hides the parent's key, a set of an empty
// value does not. Deletes of absent keys and sets of unchanged values are operations like any other
// (they reach the tree, and a set gives its leaf a new version), as in cosmossdk.io/store's
// cachekv.
//
// An iterator sees this branch, and the branches below it, as they were when it was made: writes
// while it lives, Flush and Discard do not change what it returns, nor its key() and value(). So
// code may delete or set while it iterates, and sees what the Go code sees. The first write to a
// branch while an iterator of it lives copies the pending operations. What is below the branches
// keeps its own rules.
//
// The parent must outlive the branch and its iterators.
// Threads: one at a time.
class Branch final : public Store {
 public:
  // Ordered by unsigned bytes; no value is a delete. std::less<> compares with views, so that
  // look-ups do not allocate.
  using Pending = absl::btree_map<std::string, std::optional<std::string>, std::less<>>;

  explicit Branch(const Reader* parent);
  Branch(const Branch&) = delete;
  Branch& operator=(const Branch&) = delete;

  absl::StatusOr<bool> Get(std::string_view key, std::string* value) const override;
  absl::StatusOr<bool> Has(std::string_view key) const override;
  std::unique_ptr<Iterator> NewIterator(const KeyRange& range, Direction direction) const override;
  absl::Status Set(std::string_view key, std::string_view value) override;
  absl::Status Delete(std::string_view key) override;

  // Applies the pending operations to `into`, in ascending key order, sets and deletes mixed (the
  // order decides the shape of an IAVL tree), then forgets them. After an error the operations are
  // still pending, and `into` has some of them.
  absl::Status Flush(Store* into);
  // Forgets the pending operations.
  void Discard();
  // The net writes since the last Flush or Discard. Invalidated by the next write.
  const Pending& pending() const { return contents_->operations; }

 private:
  friend class BranchIterator;

  struct Contents {
    Pending operations;
    // Live iterators over `operations`, which may not change while there are any.
    int pins = 0;
  };

  // For a write: a copy if an iterator has the present one.
  Pending& MutableOperations();

  const Reader* parent_;
  std::shared_ptr<Contents> contents_;
};

}  // namespace blockreplay::storage
