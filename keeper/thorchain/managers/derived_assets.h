#pragma once

// The part of the network manager that keeps the virtual pools of derived assets (TOR and one per
// gas asset): as deep and as dear as their anchors, shallower while those slip.

#include "keeper/thorchain/keeper.h"
#include "keeper/thorchain/state/vaults.h"

namespace blockreplay::keeper::thorchain {

// Begin block, with the active Asgard vaults. Does nothing without any.
void SpawnDerivedAssets(const Keeper& k, const Context& ctx, const Vaults& active);

}  // namespace blockreplay::keeper::thorchain
