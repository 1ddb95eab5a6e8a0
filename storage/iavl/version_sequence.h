#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/commit_tree.h"
#include "storage/kv/store.h"

namespace blockreplay::storage::iavl {

// The versions of one tree in a database, one after the other. A version shares most of its nodes
// with the one before: those that were read for it are not read again, but for some that now stand
// elsewhere in the tree. For one thread.
class VersionSequence {
 public:
  // Begins at `version`. `db` must outlive the sequence. kNotFound if there is no such version.
  static absl::StatusOr<std::unique_ptr<VersionSequence>> Open(const Reader* db, std::string prefix,
                                                               int64_t version);
  ~VersionSequence();
  VersionSequence(const VersionSequence&) = delete;
  VersionSequence& operator=(const VersionSequence&) = delete;

  // Root hash of the version it is at, as its record says; SHA-256 of nothing for an empty tree.
  const Hash& hash() const { return hash_; }

  using Visitor =
      std::function<absl::Status(std::string_view key, std::optional<std::string_view> value)>;
  // Goes on to a later `version`, and calls `visit` in key order for every key that it does not
  // share with the one before as the same leaf (DiffLeaves): nothing for a key that is gone. After
  // an error the sequence is where it was.
  absl::Status Advance(int64_t version, const Visitor& visit);
  // Calls `visit` for every key of the version it is at, and keeps nothing of what it reads.
  absl::Status VisitAll(const Visitor& visit) const;

  size_t memory_bytes() const;
  // Forgets what was not used lately until about `bytes` are in use.
  void Trim(size_t bytes);

 private:
  class Impl;
  explicit VersionSequence(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
  Hash hash_{};
};

}  // namespace blockreplay::storage::iavl
