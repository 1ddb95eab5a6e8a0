#pragma once

// Shares in pools.

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

// Recomputes the units of the synthetic assets from their supply; returns all units.
Uint CalcUnits(Pool* pool, const Uint& synth_supply);
// An error if the pool is suspended.
Error CheckLiquidityStatus(const Pool& pool);

// For what is added to a pool: what the units become, and what of them is new.
struct AddedUnits {
  Uint total;
  Uint added;
};
Result<AddedUnits> CalcAddedUnits(const Pool& pool, const Uint& rune, const Uint& asset);
// The same for a vault of savers, which holds the asset only.
AddedUnits CalcAddedVaultUnits(const Pool& pool, const Uint& asset);

}  // namespace blockreplay::keeper::thorchain
