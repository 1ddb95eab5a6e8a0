#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "storage/commit_tree.h"

namespace blockreplay::storage::bptree {

// A store without a tree (tm2/pkg/store/dbadapter): its keys are the database's below a prefix, it
// has no root and no versions. It takes part in a multistore all the same: what is written becomes
// visible to a fresh load with the batch of Commit (or of Flush), together with the trees.
class RawStore final : public CommitTree {
 public:
  struct Options {
    std::string key_prefix;
    // Write with Commit, as the original does; otherwise with Flush.
    bool write_on_commit = true;
    int64_t initial_version = 1;
  };
  // `database` must outlive it. The version is what the multistore says.
  RawStore(const Reader* database, Options options, int64_t version);

  absl::StatusOr<bool> Get(std::string_view key, std::string* value) const override;
  absl::StatusOr<bool> Has(std::string_view key) const override;
  std::unique_ptr<Iterator> NewIterator(const KeyRange& range, Direction direction) const override;
  absl::Status Set(std::string_view key, std::string_view value) override;
  absl::Status Delete(std::string_view key) override;

  int64_t version() const override { return version_; }
  // All zero: there is no root.
  Hash hash() const override { return {}; }
  int64_t size() const override { return 0; }
  int64_t next_version() const override;
  absl::StatusOr<Hash> WorkingHash() override { return Hash{}; }
  absl::StatusOr<Hash> Commit(WriteBatch* batch) override;
  absl::Status Flush(WriteBatch* batch) override;
  absl::Status Rollback() override;
  absl::Status DeleteVersionsTo(int64_t, WriteBatch*) override { return absl::OkStatus(); }
  size_t memory_bytes() const override;
  void Trim(size_t) override { in_flight_.clear(); }

 private:
  // Nothing for a deletion.
  using Changes = std::map<std::string, std::optional<std::string>, std::less<>>;

  const Reader* const database_;
  const Options options_;
  int64_t version_;
  Changes changes_;  // of the version being built
  // Committed, but perhaps not in the database yet; only without write_on_commit.
  Changes unflushed_;
  // In batches that may still be on their way to the database.
  Changes in_flight_;
};

}  // namespace blockreplay::storage::bptree
