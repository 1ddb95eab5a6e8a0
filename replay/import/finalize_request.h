#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tendermint/abci/types.pb.h"
#include "tendermint/types/block.pb.h"

namespace blockreplay::replay {

// The request that CometBFT 0.38 makes of a block for its application, byte for byte; what 0.34 and
// 0.37 tell in begin block, deliver tx and end block is the same. `last_validators` are those of
// the height before, in their order; null at the chain's initial height, whose block has no last
// commit. kDataLoss where last commit and validators do not fit together.
absl::StatusOr<tendermint::abci::RequestFinalizeBlock> BuildFinalizeRequest(
    const tendermint::types::Block& block, const std::string& block_hash,
    const tendermint::types::ValidatorSet* last_validators);

}  // namespace blockreplay::replay
