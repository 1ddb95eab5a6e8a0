#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiling/process_stats.h"
#include "replay/engine/run_plan.h"
#include "replay/mempool/mempool_report.h"
#include "replay/report/report.h"
#include "replay/stats/run_statistics.h"

namespace blockreplay::replay {

// `blockreplay mempool`: a node's list mempool over the state of a recording. The pool is filled
// with the recording's transactions; then blocks are made of its front and committed, and after
// each one the rest is rechecked, as a node does it. docs/command-line.md describes the options.
struct MempoolOptions {
  int64_t depth = 5000;     // transactions in the pool before the first block
  int64_t block_txs = 100;  // that a block takes
  int64_t blocks = 10;
  bool refill = false;  // up to `depth` after each block, outside of its time
  // Of these: recording, threads, persist, cache_mb, no_memo, signature_cache, profiles, report, csv,
  // quiet.
  RunOptions run;
};

struct MempoolResult {
  absl::Status error;    // ok where all blocks were made
  std::string mismatch;  // the first block's app hash is not the recorded one
  int signal = 0;        // that ended the run early
  bool started = false;
  std::vector<std::string> problems;  // what could not be written
  std::vector<std::string> profiles;

  RunFacts facts;
  RunStatistics statistics;
  MempoolReport mempool;
};

// kInvalidArgument and others: as PlanRun, whose checks it makes.
absl::StatusOr<RunPlan> PlanMempool(const MempoolOptions& options);

// Finishes the block at hand and stops when a signal comes (InterruptGuard). `instructions` may be
// null.
MempoolResult RunMempool(const MempoolOptions& options, const RunPlan& plan,
                         const std::string& command_line,
                         const profiling::InstructionCounter* instructions);

}  // namespace blockreplay::replay
