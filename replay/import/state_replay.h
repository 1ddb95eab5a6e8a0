#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "replay/engine/block_replayer.h"
#include "replay/engine/database_dir.h"
#include "replay/engine/replay_state.h"
#include "replay/engine/run_plan.h"
#include "replay/recording/manifest.h"
#include "replay/stats/phases.h"
#include "storage/multistore/snapshot.h"

namespace blockreplay::replay {

// The state of a recording that is being written, in a temporary database of our own: what its
// blocks are checked against. One thread.
class StateReplay {
 public:
  struct Options {
    // For the database and the trees' nodes together.
    int64_t cache_mb = 256;
    int threads = 1;
  };

  // Starts from the snapshot in `recording_dir` where `manifest` has a base (its app hash is
  // compared unless empty), else from nothing at `manifest.first_height`. `manifest.stores` may be
  // empty where there is a snapshot, whose stores are taken then. `progress` may stop it.
  static absl::StatusOr<std::unique_ptr<StateReplay>> Start(
      const std::string& recording_dir, const Manifest& manifest, const Options& options,
      const storage::SnapshotProgressCallback& progress);

  // Applies the block's change set and compares what it gives with what the block says. Committed
  // unless there is a mismatch, after which nothing more may be replayed.
  absl::StatusOr<BlockReplayer::Outcome> Replay(const v1::Block& block) {
    return replayer_->Replay(block, nullptr);
  }

  // Raw, of the last block or of the base; empty before the first block of a chain.
  std::string app_hash();
  const std::vector<std::string>& store_names() { return state_->multistore()->store_names(); }

 private:
  explicit StateReplay(RunPlan plan) : plan_(std::move(plan)) {}

  const RunPlan plan_;
  PhaseClock clock_;
  // In this order: the state lives in the folder.
  std::unique_ptr<DatabaseDir> dir_;
  std::unique_ptr<ReplayState> state_;
  std::unique_ptr<BlockReplayer> replayer_;
};

}  // namespace blockreplay::replay
