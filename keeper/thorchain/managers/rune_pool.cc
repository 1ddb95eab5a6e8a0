#include "keeper/thorchain/managers/rune_pool.h"

#include <algorithm>
#include <vector>

#include "keeper/thorchain/managers/pool_units.h"
#include "keeper/thorchain/state/funds.h"
#include "keeper/thorchain/state/liquidity_providers.h"
#include "keeper/thorchain/state/pools.h"
#include "keeper/thorchain/state/rune_pool.h"

namespace blockreplay::keeper::thorchain {

Result<Uint> PolValue(const Keeper& k, const Context& ctx) {
  const Address reserve = ModuleAddress(k, kReserveModule);
  KEEPER_ASSIGN_OR_RETURN(std::vector<Pool> pools, GetPools(k, ctx));
  Uint total;
  for (Pool& pool : pools) {
    if (pool.asset.IsNative() || pool.balance_rune.IsZero()) continue;
    const Uint supply = GetTotalSupply(k, ctx, pool.asset.GetSyntheticAsset());
    const Uint units = CalcUnits(&pool, supply);
    KEEPER_ASSIGN_OR_RETURN(const LiquidityProvider position,
                            GetLiquidityProvider(k, ctx, pool.asset, reserve));
    total += GetSafeShare(position.units, units, pool.balance_rune) * Uint(2);
  }
  return total;
}

Result<Uint> RunePoolValue(const Keeper& k, const Context& ctx) {
  KEEPER_ASSIGN_OR_RETURN(const Uint pol, PolValue(k, ctx));
  return pol + GetRuneBalanceOfModule(k, ctx, kRunePoolModule);
}

Error ReserveExitRunePool(const Keeper& k, const Context& ctx) {
  Result<RUNEPool> pool = GetRunePool(k, ctx);
  if (!pool.ok()) return Error::Opaque("unable to get runepool", pool.error());
  const Uint pending = GetRuneBalanceOfModule(k, ctx, kRunePoolModule);
  if (pool->reserve_units.IsZero() || pending.IsZero()) return {};

  const Result<Uint> value = RunePoolValue(k, ctx);
  if (!value.ok()) return Error::Opaque("fail to get pol pool value", value.error());
  const Uint reserve_value = GetSafeShare(pool->reserve_units, TotalUnits(*pool), *value);
  const Uint rune = std::min(pending, reserve_value);
  const Uint units = GetSafeShare(rune, reserve_value, pool->reserve_units);
  if (Error error = SendFromModuleToModule(k, ctx, kRunePoolModule, kReserveModule,
                                           {Coin(assets::kRune, rune)});
      error) {
    return Error::New(sdk::StrCat("unable to SendFromModuleToModule: ", error.message()));
  }
  pool->reserve_units = SafeSub(pool->reserve_units, units);
  SetRunePool(k, ctx, *pool);
  return {};
}

Error ReserveEnterRunePool(const Keeper& k, const Context& ctx, const Uint& rune) {
  Result<RUNEPool> pool = GetRunePool(k, ctx);
  if (!pool.ok()) return Error::Opaque("fail to get runepool", pool.error());
  const Result<Uint> value = RunePoolValue(k, ctx);
  if (!value.ok()) return Error::Opaque("fail to get runepool value", value.error());
  const Uint units = GetSafeShare(rune, *value, TotalUnits(*pool));
  if (Error error = SendFromModuleToModule(k, ctx, kReserveModule, kRunePoolModule,
                                           {Coin(assets::kRune, rune)});
      error) {
    return Error::Opaque("fail to transfer rune from reserve to runepool", error);
  }
  pool->reserve_units += units;
  SetRunePool(k, ctx, *pool);
  return {};
}

}  // namespace blockreplay::keeper::thorchain
