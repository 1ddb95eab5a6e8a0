#pragma once

// Emulation of LevelDB's seek-triggered compaction on RocksDB, which has none (removed in 3.2).
//
// LevelDB (1.23) and goleveldb give each table an allowance of seeks when it is made. A Get that
// looks into two tables or more charges the first: it was passed through without finding the key.
// An iterator samples a key about once per MiB that it reads, and the first of two or more tables
// whose range covers it is charged. A table without allowance is compacted into the next level, one
// table at a time. The reasoning behind the numbers (a seek costs as much as compacting 40 KB, so
// be conservative and say 16 KiB) is that of rotating disks.
//
// RocksDB does not say which tables a read looked into. What it looks into follows from the ranges
// of the live tables (its metadata) and from where the key was found (its per-thread counters:
// level, and filter checks within level 0), so the charges are those that LevelDB would make on the
// same shape of tables. The shape itself stays RocksDB's.

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace blockreplay::storage {

// Seeks that a table of that size may cost before it is compacted.
int64_t AllowedSeeks(uint64_t table_bytes);

// The allowances of the tables of one shape. Not thread-safe.
class SeekAllowances {
 public:
  struct Table {
    uint64_t number = 0;
    int level = 0;
    uint64_t bytes = 0;
    std::string smallest;  // user keys, both included
    std::string largest;
    uint64_t largest_sequence = 0;  // orders level 0: newest first
  };

  // Where a Get ended.
  struct Outcome {
    enum class Found {
      kMemtable,  // key or tombstone; no table was looked into
      kLevel,     // key or tombstone in `level`
      kNowhere,   // all tables that cover the key were looked into
    };
    Found found = Found::kNowhere;
    int level = 0;
    // For level 0, where tables overlap: whether one was looked into before the right one.
    bool missed_in_level0 = false;
  };

  // A new shape. Tables that stay where they are keep what is left of their allowance.
  void SetTables(const std::vector<Table>& tables);

  // Charge for a read, and return the number of the table that has nothing left, if it is so.
  std::optional<uint64_t> OnGet(std::string_view key, const Outcome& outcome);
  std::optional<uint64_t> OnIteratorSample(std::string_view key);

  // For tests: what is left, nothing for an unknown table.
  std::optional<int64_t> SeeksLeft(uint64_t number) const;
  // Level below the table's that its compaction goes to: the next with tables in it, else `last`.
  // (With dynamic level sizes the levels between are unused.) Nothing for an unknown table.
  std::optional<int> OutputLevel(uint64_t number, int last_level) const;

 private:
  struct Entry {
    Table table;
    int64_t seeks_left;
  };
  // The first table that covers the key in the order of reading, if at least two do.
  Entry* FirstOfTwo(std::string_view key);
  static std::optional<uint64_t> Charge(Entry* entry);

  std::vector<std::vector<Entry>> levels_;
};

// Watches the reads of a database and compacts what LevelDB would. Reads go through Get or are
// reported by an iterator's Sampler. Thread-safe.
class SeekCompactor {
 public:
  // `table_changes` is incremented when tables were added or removed; like `db` it must outlive
  // this.
  SeekCompactor(rocksdb::DB* db, const std::atomic<uint64_t>* table_changes);
  // Interrupts a compaction that is running.
  ~SeekCompactor();
  SeekCompactor(const SeekCompactor&) = delete;
  SeekCompactor& operator=(const SeekCompactor&) = delete;

  // As DB::Get.
  rocksdb::Status Get(const rocksdb::Slice& key, rocksdb::PinnableSlice* value);

  // One per iterator; not thread-safe.
  class Sampler {
   public:
    explicit Sampler(SeekCompactor* compactor);
    // An element that the iterator has come to.
    void OnElement(const rocksdb::Slice& key, size_t value_size);

   private:
    size_t NextPeriod();

    SeekCompactor* const compactor_;
    uint64_t random_;
    size_t bytes_left_;
  };

  // Compactions carried out.
  uint64_t compactions() const { return compactions_.load(std::memory_order_relaxed); }
  // Waits until no compaction runs or is due.
  void WaitUntilIdle();

 private:
  // Requires mutex_.
  void RefreshTables();
  // Requires mutex_. Asks for the compaction of a table, unless one is due already.
  void Request(std::optional<uint64_t> table);
  void Run();
  void CompactTable(uint64_t number, int output_level);

  rocksdb::DB* const db_;
  const std::atomic<uint64_t>* const table_changes_;
  std::atomic<uint64_t> compactions_{0};
  std::atomic<uint64_t> samplers_{0};

  std::mutex mutex_;
  std::condition_variable changed_;
  SeekAllowances allowances_;
  uint64_t tables_seen_ = 0;
  bool tables_known_ = false;
  std::optional<uint64_t> due_;  // a table; stays set while its compaction runs
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace blockreplay::storage
