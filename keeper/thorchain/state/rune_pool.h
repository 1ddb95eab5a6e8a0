#pragma once

// rune_pool/ and rune_provider/: who owns the protocol's liquidity, in units.

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

Result<RUNEPool> GetRunePool(const Keeper& k, const Context& ctx);
void SetRunePool(const Keeper& k, const Context& ctx, const RUNEPool& pool);

// Without units if there is no record.
Result<RUNEProvider> GetRuneProvider(const Keeper& k, const Context& ctx,
                                     const AccAddress& address);
void SetRuneProvider(const Keeper& k, const Context& ctx, const RUNEProvider& provider);

// ---- Without the store ----

// Those of the reserve and of the providers.
inline Uint TotalUnits(const RUNEPool& pool) { return pool.reserve_units + pool.pool_units; }

}  // namespace blockreplay::keeper::thorchain
