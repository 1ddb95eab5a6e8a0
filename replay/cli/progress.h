#pragma once

#include <cstdint>
#include <string>

#include "replay/cli/height_progress.h"
#include "replay/engine/run.h"

namespace blockreplay::replay {

// Shows on stderr how far a run is. The header of the run goes to stdout once the database is open.
// Silent with --quiet.
class RunProgress : public RunObserver {
 public:
  explicit RunProgress(const RunPlan& plan, std::string host);

  void OnListen(const std::string& url) override;
  void OnOpen(const std::string& database, const std::string& seek_compaction) override;
  void OnRestore(const storage::SnapshotProgress& progress) override;
  void OnPass(int64_t pass, int64_t next_height) override;
  void OnBlock(int64_t height) override { heights_.OnHeight(height); }
  // Removes the bar.
  void Finish() { heights_.Finish(); }

 private:
  const RunPlan& plan_;
  const std::string host_;
  const bool quiet_;
  HeightProgress heights_;
};

}  // namespace blockreplay::replay
