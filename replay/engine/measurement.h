#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "profiling/process_stats.h"
#include "replay/recording/block_source.h"
#include "replay/stats/run_statistics.h"
#include "storage/kv/rocksdb_engine.h"
#include "storage/multistore/multistore.h"
#include "storage/multistore/worker_pool.h"

namespace blockreplay::replay {

// Collects a run's statistics: spans of measured blocks (one a pass), between Start and Stop, and
// rows for the blocks in them. To be used by the thread that drives the replay, whose clock()
// divides its time among the phases.
class Measurement {
 public:
  // `instructions` may be null: then they are not counted.
  explicit Measurement(const profiling::InstructionCounter* instructions)
      : instructions_(instructions) {}

  // They must live until Stop; `workers`, who execute, may be null.
  void Start(const storage::RocksDbEngine* engine, const storage::Multistore* multistore,
             const BlockSource* source, const storage::WorkerPool* workers);
  void Stop();
  // Leaves out what happens in between: time, CPU, instructions, allocations.
  void Suspend();
  void Resume();
  bool running() const { return engine_ != nullptr; }

  PhaseClock& clock() { return clock_; }

  // Ends a block and counts it; returns its time in milliseconds. With a record, that gets its
  // times, and with `costs` what it cost the database and the allocator; looking that up takes some
  // 30 µs, which belong to no block and no phase.
  double FinishBlock(BlockRecord* record = nullptr, bool costs = true);
  // The time since the last step of clock() was waited for --pace: it belongs to no phase.
  void SkipPacedWait(int64_t nanos);

  // Complete after Stop.
  const RunStatistics& statistics() const { return statistics_; }

 private:
  struct Baseline {
    int64_t process_cpu = 0;
    int64_t source_cpu = 0;
    int64_t worker_cpu = 0;
    int64_t committer_cpu = 0;
    std::optional<int64_t> instructions;
    int64_t compaction_cpu = 0;
    int64_t flush_cpu = 0;
    std::optional<profiling::AllocationTotals> allocations;
    storage::Engine::Stats engine;
  };
  Baseline Read() const;
  void AddCosts(BlockRecord* record);

  const profiling::InstructionCounter* instructions_;
  const storage::RocksDbEngine* engine_ = nullptr;
  const storage::Multistore* multistore_ = nullptr;
  const BlockSource* source_ = nullptr;
  const storage::WorkerPool* workers_ = nullptr;

  PhaseClock clock_;
  PhaseNanos settled_{};  // clock_.wall() at the end of the last block
  Baseline start_;
  storage::Engine::Stats last_engine_;
  std::optional<profiling::AllocationTotals> last_allocations_;
  RunStatistics statistics_;
};

}  // namespace blockreplay::replay
