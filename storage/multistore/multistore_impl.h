#pragma once

// Internal to the multistore.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/multistore/committer.h"
#include "storage/multistore/multistore.h"
#include "storage/multistore/worker_pool.h"

namespace blockreplay::storage {

class Multistore::Impl {
 public:
  // Without an engine nothing is written: versions of the write-ahead log can be made in memory.
  Impl(const Reader* db, Engine* engine, MultistoreOptions options);
  ~Impl();

  // The stores at `s/latest`, and upgrades applied.
  absl::Status Load();
  // The versions of the write-ahead log up to `last_version`.
  absl::Status Replay(int64_t last_version);
  // Takes over trees that a restore made. Instead of Load.
  void Adopt(const CommitInfo& info, std::map<std::string, std::unique_ptr<CommitTree>> trees);

  absl::StatusOr<CommitInfo> WorkingCommit(const BlockTime& time);
  absl::Status Commit();
  absl::Status Rollback();
  absl::Status Sync();
  absl::Status Flush();
  absl::Status Close();
  absl::Status RollbackToVersion(int64_t target);
  Store* store(std::string_view name);
  CommitTree* tree(std::string_view name) const;
  Stats stats() const;

 private:
  friend class Multistore;
  friend class MultistoreView;
  class Slot;

  bool logs_changes() const;
  TreeKind::Settings TreeSettings(int64_t initial_version) const;
  absl::StatusOr<std::vector<StoreSpec>> ResolveStores(const CommitInfo& info) const;
  absl::Status LoadTree(Slot* slot, const CommitInfo& info, WriteBatch* batch);
  absl::Status TakeStoresFromLog();
  absl::Status DeleteAll(Slot* slot);
  absl::Status ApplyUpgrades();
  absl::Status Reload();
  void ListSlots();
  int64_t FirstVersionAfter(int64_t version) const;

  // Does `work` for all slots on the pool. The first error in the order of names, with "<what>
  // store <name>".
  absl::Status ForEachSlot(const char* what, const std::function<absl::Status(Slot*)>& work);
  // Moves the slots' batches to the end of `batch`, in the order of names.
  void TakeBatches(WriteBatch* batch);
  absl::Status CommitEvery();
  absl::Status CommitDeferred();
  absl::Status AppendFlush(WriteBatch* batch);
  void DropWal(WriteBatch* batch);
  void EndVersion();
  absl::Status TrimToBudget();

  const Reader* const db_;
  Engine* const engine_;
  MultistoreOptions options_;
  WorkerPool pool_;

  std::map<std::string, std::unique_ptr<Slot>, std::less<>> slots_;
  std::vector<std::unique_ptr<Slot>> leaving_;  // under their old name: stores that are renamed
  std::vector<Slot*> work_;                     // all of both, by name
  std::vector<std::string> names_;
  bool upgrading_ = false;  // the next version carries out options_.upgrades

  CommitInfo last_;
  Hash last_hash_{};
  std::optional<CommitInfo> prepared_;
  Hash prepared_hash_{};
  absl::Status broken_;
  bool closed_ = false;

  bool replaying_ = false;
  std::vector<int64_t> wal_versions_;  // that the database has a record of
  int64_t flushed_version_ = 0;
  int64_t flushes_ = 0;
  bool after_flush_ = false;  // the last batch that was queued is a flush

  // Last, so that it is gone before what it writes from.
  std::unique_ptr<Committer> committer_;
};

}  // namespace blockreplay::storage
