#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replay/stats/phases.h"

namespace blockreplay::replay {

// What one replayed block cost.
struct BlockRecord {
  int64_t pass = 1;
  int64_t height = 0;
  int64_t txs = 0;
  int64_t sets = 0;
  int64_t deletes = 0;
  int64_t change_set_bytes = 0;  // keys and values
  int64_t wall_nanos = 0;        // the sum of the phases
  PhaseNanos phase_nanos{};
  // The database's counters since the block before. Commits overlap with later blocks, and flushes
  // and compactions happen when they are due: these show when something was written, not for which
  // block.
  uint64_t bytes_written = 0;
  uint64_t compaction_bytes = 0;
  uint64_t stalls = 0;
  uint64_t stall_micros = 0;
  uint64_t level0_files = 0;  // at the end of the block
  int64_t rss_bytes = 0;      // at the end of the block
  // Since the block before, by all threads; 0 where the allocator does not count.
  int64_t allocations = 0;
  int64_t allocated_bytes = 0;
  std::string app_hash;      // raw, computed
  std::string results_hash;  // raw, of the recorded results
};

// CPU time of the process in nanoseconds, by what it was used for.
struct CpuSplit {
  int64_t process = 0;
  int64_t execution = 0;  // executing, applying and hashing; includes `decode`
  int64_t decode = 0;     // decompressing and parsing the recording
  int64_t commit = 0;     // making batches and handing them to the database
  int64_t compaction = 0;
  int64_t flush = 0;

  int64_t other() const { return process - execution - commit - compaction - flush; }
};

// Everything measured in a run, over the blocks that count (those from --from on).
struct RunStatistics {
  std::vector<double> block_ms;  // one per block and pass
  PhaseNanos phase_nanos{};
  int64_t wall_nanos = 0;   // the sum of the phases
  int64_t paced_nanos = 0;  // waited because of --pace, in no phase
  CpuSplit cpu;
  std::optional<int64_t> instructions;
  std::optional<int64_t> allocations;
  std::optional<int64_t> allocated_bytes;
  uint64_t bytes_written = 0;
  uint64_t compaction_bytes = 0;
  uint64_t stalls = 0;
  uint64_t stall_micros = 0;
  uint64_t seek_compactions = 0;
  uint64_t db_bytes = 0;  // at the end
  int64_t peak_rss_bytes = 0;
};

}  // namespace blockreplay::replay
