#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "profiling/process_stats.h"
#include "replay/engine/run_plan.h"
#include "replay/report/report.h"
#include "replay/stats/run_statistics.h"
#include "storage/multistore/snapshot.h"

namespace blockreplay::replay {

enum class RunOutcome {
  kVerified,          // every block asked for
  kError,             // `error` says what
  kAppHashMismatch,   // `mismatch` describes it
  kResultsMismatch,   // likewise
  kExecutionDiffers,  // every block was verified, but native phases differ: `facts.coverage`
  kInterrupted,       // by `signal`, after a whole block
};

// How a run ended, and what it measured until then.
struct RunResult {
  RunOutcome outcome = RunOutcome::kVerified;
  // False if the database could not even be taken: then there is nothing to report.
  bool started = false;
  absl::Status error;
  std::string mismatch;  // several lines
  int signal = 0;
  // What could not be written afterwards (profiles, bundle, the database's last flush): kVerified
  // becomes kError then, other outcomes stay.
  std::vector<std::string> problems;

  RunFacts facts;
  RunStatistics statistics;
  int64_t paused_at = 0;  // height of the database now
  std::string bundle;     // folder that was written
  std::string csv;        // with --html: what --csv writes
  std::vector<std::string> profiles;
};

// Told what is going on, by the thread that runs.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  // With --pprof-listen, before anything else.
  virtual void OnListen(const std::string& url) = 0;
  // The database is there; `seek_compaction` says what was verified about it, `database` where the
  // database is.
  virtual void OnOpen(const std::string& database, const std::string& seek_compaction) = 0;
  virtual void OnRestore(const storage::SnapshotProgress& progress) = 0;
  // The first block comes next; a resumed run has it above the recording's first.
  virtual void OnPass(int64_t pass, int64_t next_height) = 0;
  virtual void OnBlock(int64_t height) = 0;
};

// Runs the plan to its end. Finishes the block at hand and stops when a signal comes
// (InterruptGuard). `command_line` goes into the profiles. `instructions` may be null.
RunResult ExecuteRun(const RunPlan& plan, const std::string& command_line,
                     const profiling::InstructionCounter* instructions, RunObserver* observer);

}  // namespace blockreplay::replay
