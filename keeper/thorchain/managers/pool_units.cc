#include "keeper/thorchain/managers/pool_units.h"

#include "keeper/thorchain/common/legacy_dec.h"
#include "keeper/thorchain/state/pools.h"

namespace blockreplay::keeper::thorchain {

Uint CalcUnits(Pool* pool, const Uint& synth_supply) {
  if (pool->balance_asset.IsZero() || pool->asset.IsSynthetic()) {
    pool->synth_units = Uint();
  } else {
    // Half of what synths stand for is RUNE.
    const Uint numerator = pool->lp_units * synth_supply;
    Uint denominator = SafeSub(pool->balance_asset * Uint(2), synth_supply);
    if (denominator.IsZero()) denominator = Uint(1);
    pool->synth_units = numerator / denominator;
  }
  return PoolUnits(*pool);
}

Error CheckLiquidityStatus(const Pool& pool) {
  switch (pool.status) {
    case PoolStatus::Available:
    case PoolStatus::Staged:
      return {};
    case PoolStatus::Suspended:
      return Error::New("pool suspended");
    default:
      return Error::New("unknown pool status," + Name(pool.status));
  }
}

Result<AddedUnits> CalcAddedUnits(const Pool& pool, const Uint& rune, const Uint& asset) {
  const Uint old_units = PoolUnits(pool);
  if ((rune + pool.balance_rune).IsZero()) return Error::New("total RUNE in the pool is zero");
  if ((asset + pool.balance_asset).IsZero()) return Error::New("total asset in the pool is zero");
  if (pool.balance_rune.IsZero() || pool.balance_asset.IsZero() || old_units.IsZero()) {
    Uint added = rune;
    if (rune.IsZero()) {
      added = pool.balance_asset.IsZero() ? asset : asset * pool.balance_rune / pool.balance_asset;
    }
    return AddedUnits{old_units + added, added};
  }

  // P * (r*A + a*R + 2*r*a) / (r*A + a*R + 2*R*A); decimals round, so the order matters.
  const LegacyDec P(old_units);
  const LegacyDec R(pool.balance_rune);
  const LegacyDec A(pool.balance_asset);
  const LegacyDec r(rune);
  const LegacyDec a(asset);
  const LegacyDec two(int64_t{2});
  const LegacyDec cross = r * A + a * R;
  const LegacyDec numerator = P * (cross + two * r * a);
  const LegacyDec denominator = cross + two * A * R;
  if (denominator.IsZero()) {
    return Error::New("denominator of new pool units calculation is zero");
  }
  const LegacyDec added = numerator / denominator;
  return AddedUnits{(P + added).TruncateToUint(), added.TruncateToUint()};
}

AddedUnits CalcAddedVaultUnits(const Pool& pool, const Uint& asset) {
  const Uint old_units = PoolUnits(pool);
  if (old_units.IsZero() || pool.balance_asset.IsZero()) return {asset, asset};
  const Uint added = GetUncappedShare(asset, pool.balance_asset, old_units);
  return {old_units + added, added};
}

}  // namespace blockreplay::keeper::thorchain
