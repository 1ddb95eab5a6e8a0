#include "replay/engine/measurement.h"

#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "profiling/thread_clock.h"

namespace blockreplay::replay {
namespace {

constexpr size_t Index(Phase phase) { return static_cast<size_t>(phase); }

}  // namespace

Measurement::Baseline Measurement::Read() const {
  Baseline now;
  now.process_cpu = profiling::ProcessCpuNanos();
  now.source_cpu = source_->cpu_nanos();
  const storage::Multistore::Stats stats = multistore_->stats();
  now.worker_cpu =
      std::accumulate(stats.worker_cpu_nanos.begin(), stats.worker_cpu_nanos.end(), int64_t{0});
  if (workers_ != nullptr) {
    const std::vector<int64_t> nanos = workers_->cpu_nanos();
    now.worker_cpu += std::accumulate(nanos.begin(), nanos.end(), int64_t{0});
  }
  now.committer_cpu = stats.committer_cpu_nanos;
  if (instructions_ != nullptr) now.instructions = instructions_->Read();
  now.allocations = profiling::GetAllocationTotals();
  now.engine = engine_->stats();
  // The clocks of the database's threads, not its counters: these leave out what a job does besides
  // merging, such as deleting files. The threads live as long as the process.
  std::map<std::string, int64_t> by_role = profiling::ThreadCpuNanosByRole();
  // What --seek-compaction on asks for is merged on a thread of its own.
  now.compaction_cpu = by_role["compaction"] + by_role["seek-compact"];
  now.flush_cpu = by_role["flush"];
  return now;
}

void Measurement::Start(const storage::RocksDbEngine* engine, const storage::Multistore* multistore,
                        const BlockSource* source, const storage::WorkerPool* workers) {
  engine_ = engine;
  multistore_ = multistore;
  source_ = source;
  workers_ = workers;
  start_ = Read();
  last_engine_ = start_.engine;
  last_allocations_ = start_.allocations;
  settled_ = {};
  clock_.Restart();
}

void Measurement::Stop() {
  if (!running()) return;
  Suspend();
  engine_ = nullptr;
}

void Measurement::Resume() { Start(engine_, multistore_, source_, workers_); }

void Measurement::Suspend() {
  clock_.Settle();
  const Baseline end = Read();
  RunStatistics& s = statistics_;
  for (size_t i = 0; i < kPhaseCount; ++i) {
    s.phase_nanos[i] += clock_.wall()[i];
    s.wall_nanos += clock_.wall()[i];
  }
  const PhaseNanos& cpu = clock_.cpu();
  const int64_t decode = end.source_cpu - start_.source_cpu + cpu[Index(Phase::kDecode)];
  const int64_t main_execution = cpu[Index(Phase::kApply)] + cpu[Index(Phase::kBeginBlock)] +
                                 cpu[Index(Phase::kDeliverTx)] + cpu[Index(Phase::kEndBlock)] +
                                 cpu[Index(Phase::kHash)] + cpu[Index(Phase::kCheckTx)];
  s.cpu.process += end.process_cpu - start_.process_cpu;
  s.cpu.decode += decode;
  s.cpu.execution += main_execution + decode + (end.worker_cpu - start_.worker_cpu);
  s.cpu.commit += cpu[Index(Phase::kCommit)] + (end.committer_cpu - start_.committer_cpu);
  s.cpu.compaction += end.compaction_cpu - start_.compaction_cpu;
  s.cpu.flush += end.flush_cpu - start_.flush_cpu;
  if (end.instructions && start_.instructions) {
    s.instructions = s.instructions.value_or(0) + *end.instructions - *start_.instructions;
  }
  if (end.allocations && start_.allocations) {
    s.allocations =
        s.allocations.value_or(0) + end.allocations->allocations - start_.allocations->allocations;
    s.allocated_bytes =
        s.allocated_bytes.value_or(0) + end.allocations->bytes - start_.allocations->bytes;
  }
  s.bytes_written += end.engine.bytes_written - start_.engine.bytes_written;
  s.compaction_bytes += end.engine.compaction_bytes - start_.engine.compaction_bytes;
  s.stalls += end.engine.stalls - start_.engine.stalls;
  s.stall_micros += end.engine.stall_micros - start_.engine.stall_micros;
  s.seek_compactions += end.engine.seek_compactions - start_.engine.seek_compactions;
  s.db_bytes = end.engine.db_bytes;
  s.peak_rss_bytes = profiling::GetProcessUsage().peak_rss_bytes;
}

double Measurement::FinishBlock(BlockRecord* record, bool costs) {
  clock_.Settle();
  int64_t wall_nanos = 0;
  for (size_t i = 0; i < kPhaseCount; ++i) {
    const int64_t nanos = clock_.wall()[i] - settled_[i];
    wall_nanos += nanos;
    if (record != nullptr) record->phase_nanos[i] = nanos;
  }
  if (record != nullptr) record->wall_nanos = wall_nanos;
  settled_ = clock_.wall();
  const double ms = static_cast<double>(wall_nanos) / 1e6;
  statistics_.block_ms.push_back(ms);
  if (record != nullptr && costs) {
    AddCosts(record);
    clock_.Forget();
  }
  return ms;
}

void Measurement::AddCosts(BlockRecord* record) {
  const storage::Engine::Stats engine = engine_->counters();
  record->bytes_written = engine.bytes_written - last_engine_.bytes_written;
  record->compaction_bytes = engine.compaction_bytes - last_engine_.compaction_bytes;
  record->stalls = engine.stalls - last_engine_.stalls;
  record->stall_micros = engine.stall_micros - last_engine_.stall_micros;
  record->level0_files = engine.level0_files;
  last_engine_ = engine;
  record->rss_bytes = profiling::CurrentRssBytes();
  const std::optional<profiling::AllocationTotals> allocations = profiling::GetAllocationTotals();
  if (allocations && last_allocations_) {
    record->allocations = allocations->allocations - last_allocations_->allocations;
    record->allocated_bytes = allocations->bytes - last_allocations_->bytes;
  }
  last_allocations_ = allocations;
}

void Measurement::SkipPacedWait(int64_t nanos) {
  statistics_.paced_nanos += nanos;
  clock_.Forget();
}

}  // namespace blockreplay::replay
