#pragma once

#include "absl/status/status.h"
#include "blockreplay/v1/recording.pb.h"
#include "replay/engine/state_branch.h"

namespace blockreplay::replay {

// `--exec apply`: puts the block's recorded net writes on `state`. Reads of the block nothing but
// change_set. An error (kInvalidArgument) names the store that the chain does not have.
absl::Status ApplyChangeSet(const v1::Block& block, StateBranch* state);

// The same without a branch, each write at once in the recorded order. That order is not always the
// branch's, and the tree of tm2 chains has another shape for it: their genesis writes to it
// directly.
absl::Status ApplyInRecordedOrder(const v1::Block& block, storage::Multistore* multistore);

}  // namespace blockreplay::replay
