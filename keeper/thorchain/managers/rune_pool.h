#pragma once

// RUNEPool: users and the reserve share the protocol's liquidity, and the RUNE that waits to become
// part of it.

#include "keeper/thorchain/managers.h"

namespace blockreplay::keeper::thorchain {

// In RUNE: the reserve's positions in all pools.
Result<Uint> PolValue(const Keeper& k, const Context& ctx);
// That, and the RUNE in the module.
Result<Uint> RunePoolValue(const Keeper& k, const Context& ctx);

// The reserve hands its units over to the providers as far as the module has RUNE to pay for them.
Error ReserveExitRunePool(const Keeper& k, const Context& ctx);
// The reserve buys units for that much RUNE.
Error ReserveEnterRunePool(const Keeper& k, const Context& ctx, const Uint& rune);

}  // namespace blockreplay::keeper::thorchain
