#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/kv/engine.h"

namespace blockreplay::storage {

// A flush or compaction that begins on the calling thread.
struct BackgroundJob {
  enum class Kind { kFlush, kCompaction };
  Kind kind;
  std::string_view reason;  // RocksDB's, e.g. "LevelL0FilesNum" or "Write Buffer Full"; static
};

struct RocksDbOptions {
  bool create_if_missing = true;
  bool error_if_exists = false;
  // Opens without taking the lock and without writing; the other writing options are ignored.
  bool read_only = false;

  // Bound for block cache and memtables together, in bytes; indexes and filters are in the cache.
  // What comes on top: one write batch, compaction buffers (some 10 MiB per job), open tables.
  size_t memory_budget_bytes = size_t{128} << 20;
  // Size at which a memtable is flushed, in bytes; 0: an eighth of the budget, 4 to 64 MiB.
  size_t memtable_bytes = 0;
  // Upper bound for flushes and compactions that run at once. A fixed number, and not one of the
  // machine's, so that runs compare.
  int background_threads = 2;
  // Emulates LevelDB's seek-triggered compaction; costs nothing when off. See seek_compaction.h.
  bool seek_compaction = false;

  // Called on the thread that begins a flush or compaction, before its work; must be quick and
  // must not call the engine.
  std::vector<std::function<void(const BackgroundJob&)>> background_job_listeners;
};

// Loads much data into a database at once, for a restore: no write-ahead log, no memtable, no
// compaction, about a third of the CPU of Write. Nothing is visible before Finish, which shows all
// of it or nothing, also after a crash. Not thread-safe; the engine must outlive it.
class BulkLoader {
 public:
  virtual ~BulkLoader() = default;
  // Puts only; a key that is put again gets the last value. kInvalidArgument for a delete.
  virtual absl::Status Add(const WriteBatch& batch) = 0;
  // Ends the load, at the latest with an error.
  virtual absl::Status Finish() = 0;
};

// RocksDB behind the Engine interface. Only the default column family is used, and nothing but the
// keys that were written is stored, so other RocksDB programs (a Go node) can open the directory.
//
// Threads: as Engine says; the functions below may be called at any time from any thread.
//
// Errors name the directory and the way out:
//   kFailedPrecondition  locked by another process or open in this one; not a RocksDB directory
//   kNotFound            missing and !create_if_missing
//   kAlreadyExists       exists and error_if_exists
//   kPermissionDenied    not readable or not writable
//   kResourceExhausted   disk full or file size limit
//   kDataLoss            corruption
//   kUnavailable         other I/O errors
// After a failed background flush or compaction, Write returns that error until the database is
// opened again.
class RocksDbEngine final : public Engine {
 public:
  static absl::StatusOr<std::unique_ptr<RocksDbEngine>> Open(const std::string& path,
                                                             const RocksDbOptions& options);
  // Waits for running background jobs. Iterators must be gone.
  ~RocksDbEngine() override;

  absl::StatusOr<bool> Get(std::string_view key, std::string* value) const override;
  absl::StatusOr<bool> Has(std::string_view key) const override;
  std::unique_ptr<Iterator> NewIterator(const KeyRange& range, Direction direction) const override;
  // Set and Delete are batches of one entry with Durability::kProcessCrash.
  absl::Status Set(std::string_view key, std::string_view value) override;
  absl::Status Delete(std::string_view key) override;
  absl::Status Write(const WriteBatch& batch, Durability durability) override;
  Stats stats() const override;
  // As stats(), without db_bytes and memory_bytes, which are ten times as dear: for a look after
  // every block.
  Stats counters() const;

  // `memory_bytes` of keys and values are sorted at a time; each such run becomes tables of its
  // own, which compactions merge later if there are several.
  std::unique_ptr<BulkLoader> NewBulkLoader(size_t memory_bytes = size_t{64} << 20);

  // Writes the memtables to tables and waits for it.
  absl::Status Flush();
  // Compacts everything down to the last level, so that runs can start from one tree shape.
  absl::Status CompactAll();
  // Waits until no flush or compaction runs or is due.
  absl::Status WaitForBackgroundWork();
  // Makes `dir`, which must not exist, a database with the present contents. Tables are hard-linked
  // where the file system can.
  absl::Status Checkpoint(const std::string& dir);

  // What was verified about compactions that reads trigger, for the header of a run.
  std::string SeekCompactionDescription() const;
  const std::string& path() const;

 private:
  class Impl;
  explicit RocksDbEngine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace blockreplay::storage
