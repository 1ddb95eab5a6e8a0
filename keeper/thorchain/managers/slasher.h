#pragma once

// The slasher: what misdeeds cost.

#include "keeper/thorchain/managers.h"

namespace blockreplay::keeper::thorchain {

// The vault let go of coins, gas among them, that it should have kept: its members' bonds pay for
// them.
Error SlashVault(Managers& mgr, const Context& ctx, const PubKey& vault, const Coins& coins);

}  // namespace blockreplay::keeper::thorchain
