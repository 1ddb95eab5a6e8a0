#pragma once

#include "absl/status/status.h"
#include "blockreplay/v1/recording.pb.h"
#include "replay/engine/state_branch.h"

namespace blockreplay::replay {

// `--exec apply`: puts the block's recorded net writes on `state`. Reads of the block nothing but
// change_set. An error (kInvalidArgument) names the store that the chain does not have.
absl::Status ApplyChangeSet(const v1::Block& block, StateBranch* state);

}  // namespace blockreplay::replay
