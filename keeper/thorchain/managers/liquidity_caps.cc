#include "keeper/thorchain/managers/liquidity_caps.h"

#include <algorithm>
#include <vector>

#include "keeper/thorchain/multi_error.h"
#include "keeper/thorchain/state/funds.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/node_accounts.h"
#include "keeper/thorchain/state/pools.h"
#include "keeper/thorchain/state/vaults.h"

namespace blockreplay::keeper::thorchain {
namespace {

// The bond of the lower two thirds of the nodes.
Uint EffectiveSecurity(const NodeAccounts& nodes) {
  std::vector<Uint> bonds;
  for (const SharedNodeAccount& node : nodes) bonds.push_back(node->bond);
  std::sort(bonds.begin(), bonds.end());
  size_t count = bonds.size() * 2 / 3 + 1;
  if (bonds.size() % 3 == 0) --count;
  Uint security;
  for (size_t i = 0; i < std::min(count, bonds.size()); ++i) security += bonds[i];
  return security;
}

Result<Uint> RemainingSynthSupply(const Keeper& k, const Context& ctx, const Asset& asset) {
  const int64_t most = GetConfigInt64(k, ctx, ConstantName::kMaxSynthPerPoolDepth);
  const Uint supply = GetTotalSupply(k, ctx, asset.GetSyntheticAsset());
  const Result<Pool> pool = GetPool(k, ctx, asset.GetLayer1Asset());
  if (!pool.ok()) return InternalError(pool.error(), "fail to get pool");
  if (pool->balance_asset.IsZero()) {
    return Error::New(sdk::StrCat("pool(", pool->asset.ToString(), ") has zero asset balance"));
  }
  const Uint most_supply =
      Uint(static_cast<uint64_t>(most)) * (pool->balance_asset * Uint(2)) / Uint(kMaxBasisPoints);
  if (most_supply < supply) {
    return Error::New(sdk::StrCat("synth supply over target (", supply.ToUint64(), "/",
                                  most_supply.ToUint64(), ")"));
  }
  return most_supply - supply;
}

}  // namespace

Result<Uint> TotalLiquidityRune(const Keeper& k, const Context& ctx) {
  const Result<std::vector<Pool>> pools = GetPools(k, ctx);
  if (!pools.ok()) return Error::Opaque("fail to get pools from data store", pools.error());
  Uint total;
  for (const Pool& pool : *pools) {
    if (pool.status == PoolStatus::Suspended || pool.asset.IsSynthetic() ||
        pool.asset.IsDerived()) {
      continue;
    }
    total += pool.balance_rune;
  }
  return total;
}

bool IsAtTvlCap(const Keeper& k, const Context& ctx, const Coins& coins) {
  if (!k.constants().GetBool(ConstantName::kStrictBondLiquidityRatio)) return false;
  const Result<Vaults> vaults = GetAsgardVaults(k, ctx);
  if (!vaults.ok()) return true;
  Coins all = coins;
  for (const Vault& vault : *vaults) {
    if (IsAsgard(vault) && (IsActive(vault) || IsRetiring(vault))) all = all.Add(vault.coins);
  }
  Uint value = all.GetCoin(assets::kRune).amount;
  for (const Coin& coin : all) {
    if (coin.IsEmpty()) continue;
    const Result<Pool> pool =
        GetPool(k, ctx, coin.asset.IsSynthetic() ? coin.asset.GetLayer1Asset() : coin.asset);
    if (!pool.ok() || (!IsAvailable(*pool) && !IsStaged(*pool))) continue;
    if (pool->balance_rune.IsZero() || pool->balance_asset.IsZero()) continue;
    if (pool->asset.IsNative()) continue;
    value += AssetValueInRune(*pool, coin.amount);
  }
  const Result<NodeAccounts> nodes = ListActiveValidators(k, ctx);
  if (!nodes.ok()) return true;
  const int64_t cap = GetConfigInt64(k, ctx, ConstantName::kTVLCapBasisPoints);
  if (cap <= 0) return value > EffectiveSecurity(*nodes);
  Uint bond;
  for (const SharedNodeAccount& node : *nodes) bond += node->bond;
  return value > GetUncappedShare(Uint(static_cast<uint64_t>(cap)), Uint(kMaxBasisPoints), bond);
}

Error CheckSynthMint(const Keeper& k, const Context& ctx, const Asset& asset, const Uint& amount) {
  if (GetMimir(k, ctx, "RAGNAROK-" + asset.MimirString()) > 0) {
    return Error::New("pool is in ragnarok");
  }
  const int64_t halt = GetConfigInt64(k, ctx, ConstantName::kMintSynths);
  if (halt > 0 && ctx.height() > halt) {
    return Error::New("minting synthetics has been disabled");
  }
  KEEPER_ASSIGN_OR_RETURN(const Uint remaining, RemainingSynthSupply(k, ctx, asset));
  if (remaining < amount) {
    return Error::New(sdk::StrCat("insufficient synth capacity: want=", amount.ToUint64(),
                                  " have=", remaining.ToUint64()));
  }
  return {};
}

}  // namespace blockreplay::keeper::thorchain
