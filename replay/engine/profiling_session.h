#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiling/profiler.h"
#include "replay/engine/options.h"

namespace blockreplay::replay {

// The profiles that a run was asked for: of all of it, of every N blocks, and of slow blocks. One
// thread.
class ProfilingSession {
 public:
  // Whether `options` asks for any profile, for one of threads (CPU or wall time), for one of the
  // heap.
  static bool Wanted(const RunOptions& options);
  static bool WantsThreads(const RunOptions& options);
  static bool WantsHeap(const RunOptions& options);
  // kUnavailable where a profile was asked for that this program cannot make. `comments` go into
  // every profile.
  static absl::StatusOr<std::unique_ptr<ProfilingSession>> Start(const RunOptions& options,
                                                                 std::vector<std::string> comments);

  // To be called around each measured block. FinishBlock is true if profiles are due now: WriteDue
  // then takes seconds.
  void StartBlock(int64_t pass, int64_t height);
  bool FinishBlock(int64_t height, double block_ms);
  absl::Status WriteDue();
  // What comes next is in no profile.
  void StopSampling() { profiler_->Stop(); }
  // Stops sampling and writes what is left. The files written so far are in files().
  absl::Status Finish();

  const std::vector<std::string>& files() const { return files_; }
  const std::shared_ptr<profiling::Profiler>& profiler() const { return profiler_; }

 private:
  ProfilingSession(const RunOptions& options, std::vector<std::string> comments);

  // With several passes, names say which one.
  std::string PassPrefix() const;
  bool LastBlockWasSlow() const;
  bool SeriesIsDue() const;
  absl::Status WriteSeries();
  // Writes a pair, CPU and heap, of what happened since `mark`.
  absl::Status WritePair(const std::string& name, const profiling::ProfileMark& mark,
                         const std::string& what);
  absl::Status WriteOne(profiling::ProfileKind kind, const profiling::ProfileRequest& request);

  const RunOptions options_;
  const std::vector<std::string> comments_;
  std::shared_ptr<profiling::Profiler> profiler_;
  profiling::ProfileMark block_start_;   // with profile_slower_than_ms
  profiling::ProfileMark series_start_;  // with profile_every
  int64_t pass_ = 1;
  int64_t series_first_height_ = 0;
  int64_t series_blocks_ = 0;
  int64_t last_height_ = 0;
  double last_block_ms_ = 0;
  std::vector<std::string> files_;
};

}  // namespace blockreplay::replay
