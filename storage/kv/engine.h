#pragma once

#include <cstdint>
#include <memory>

#include "storage/kv/store.h"
#include "storage/kv/write_batch.h"

namespace blockreplay::storage {

enum class Durability {
  kProcessCrash,  // survives kill -9, not a power loss: the write-ahead log is written but not
                  // synced
  kPowerLoss,     // the write-ahead log is synced before the call returns
};

// A database: an ordered store with atomic batches. Get, Has, NewIterator and Write may be called
// by several threads at once; an iterator reads a snapshot taken when it was made, and belongs to
// one thread.
class Engine : public Store {
 public:
  // Applies all of the batch or nothing of it.
  virtual absl::Status Write(const WriteBatch& batch, Durability durability) = 0;

  // Counters since the engine was opened. Engines that do not have a figure leave it 0.
  struct Stats {
    uint64_t db_bytes = 0;          // live bytes on disk now
    uint64_t bytes_written = 0;     // by flushes, compactions and the write-ahead log
    uint64_t compaction_bytes = 0;  // read and written by compactions
    uint64_t compaction_cpu_micros = 0;
    uint64_t flush_cpu_micros = 0;
    uint64_t stall_micros = 0;
    uint64_t stalls = 0;
    uint64_t level0_files = 0;
    uint64_t seek_compactions = 0;  // compactions asked for by the emulation of LevelDB's seek rule
    uint64_t memory_bytes = 0;      // memtables, block cache, table readers
  };
  virtual Stats stats() const { return {}; }
};

}  // namespace blockreplay::storage
