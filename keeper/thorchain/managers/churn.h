#pragma once

// The part of the validator manager that decides, at intervals, which nodes leave and which come,
// and has vaults of the new set made.

#include "keeper/thorchain/keeper.h"
#include "keeper/thorchain/state/node_accounts.h"
#include "keeper/thorchain/state/vaults.h"

namespace blockreplay::keeper::thorchain {

// Begin block of the first block: makes validators of the nodes that genesis names.
Error SetUpValidators(const Keeper& k, const Context& ctx);

// Begin block, with the active Asgard vaults.
Error ChurnIfDue(const Keeper& k, const Context& ctx, const Vaults& vaults);

// Has a vault made of the nodes, unless these have an active one already.
Error TriggerKeygen(const Keeper& k, const Context& ctx, const std::vector<NodeAccount>& nodes);

// Zero if there are no vaults.
int64_t LastChurnHeight(const Vaults& active);

}  // namespace blockreplay::keeper::thorchain
