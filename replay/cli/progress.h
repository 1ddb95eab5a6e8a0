#pragma once

#include <cstdint>
#include <string>

#include "replay/engine/run.h"

namespace blockreplay::replay {

// Shows on stderr how far a run is: a bar with height, blocks/s and ETA on a terminal, a plain line
// every ten percent (and at least every half minute) elsewhere. The header of the run goes to
// stdout once the database is open. Silent with --quiet.
class RunProgress : public RunObserver {
 public:
  explicit RunProgress(const RunPlan& plan, std::string host);

  void OnListen(const std::string& url) override;
  void OnOpen(const std::string& database, const std::string& seek_compaction) override;
  void OnRestore(const storage::SnapshotProgress& progress) override;
  void OnPass(int64_t pass, int64_t next_height) override;
  void OnBlock(int64_t height) override;
  // Removes the bar.
  void Finish();

 private:
  void DrawBar(int64_t height, double blocks_per_second, double eta_seconds);
  void PrintLine(int64_t height, double blocks_per_second, double eta_seconds);
  std::string PassText() const;

  const RunPlan& plan_;
  const std::string host_;
  const bool quiet_;
  const bool terminal_;
  int64_t pass_ = 1;
  int64_t first_height_ = 0;  // of the pass
  int64_t pass_start_ = 0;    // monotonic nanoseconds
  int64_t last_drawn_ = 0;
  int64_t last_line_ = 0;
  int64_t next_line_tenth_ = 1;
  bool bar_shown_ = false;
};

}  // namespace blockreplay::replay
