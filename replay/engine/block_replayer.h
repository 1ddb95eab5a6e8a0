#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "blockreplay/v1/recording.pb.h"
#include "replay/engine/state_branch.h"
#include "replay/engine/verify_executor.h"
#include "replay/stats/phases.h"
#include "replay/verify/block_verifier.h"
#include "storage/multistore/multistore.h"

namespace blockreplay::replay {

// Takes one block after the other through branch, trees, hash, comparison and commit. One thread.
class BlockReplayer {
 public:
  // Each block is executed `repeat` times from the same state. `clock` is told which phase it is
  // in. `genesis_in_recorded_order`: the first block of a chain goes to the trees in the order of
  // its recorded writes. `verifier`, if not null, executes each block before its recorded writes
  // are applied, or in their place.
  BlockReplayer(storage::Multistore* multistore, int64_t repeat, PhaseClock* clock,
                bool genesis_in_recorded_order, VerifyExecutor* verifier);

  struct Outcome {
    storage::CommitInfo commit_info;  // computed
    std::string app_hash;             // raw, of commit_info
    std::string results_hash;         // raw, of the recorded results
    std::optional<AppHashMismatch> mismatch;
  };
  // Commits the block if nothing differs. With a mismatch, or after an error, the last good block
  // is still the last committed one, and Rollback makes the multistore usable again.
  // `final_app_hash` is what the block must have besides its own, or null.
  absl::StatusOr<Outcome> Replay(const v1::Block& block, const std::string* final_app_hash);

 private:
  storage::Multistore* multistore_;
  const int64_t repeat_;
  PhaseClock* clock_;
  const bool genesis_in_recorded_order_;
  VerifyExecutor* verifier_;
  StateBranch state_;
};

}  // namespace blockreplay::replay
