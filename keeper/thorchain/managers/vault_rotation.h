#pragma once

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

// The network manager's: the new vault becomes active, those that share members with it retire.
Error RotateVault(const Keeper& k, const Context& ctx, Vault vault);

}  // namespace blockreplay::keeper::thorchain
