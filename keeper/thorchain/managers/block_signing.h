#pragma once

// The part of the slasher that watches how validators sign blocks.

#include "keeper/thorchain/keeper.h"
#include "keeper/thorchain/state/node_accounts.h"

namespace blockreplay::keeper::thorchain {

// Begin block: from the last block's votes and the evidence of misbehaviour, slash points and how
// many blocks each validator missed. `active`: the active validators.
void JudgeBlockSigning(const Keeper& k, const Context& ctx, const NodeAccounts& active);

}  // namespace blockreplay::keeper::thorchain
