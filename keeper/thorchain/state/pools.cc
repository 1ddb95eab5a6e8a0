#include "keeper/thorchain/state/pools.h"

#include <algorithm>
#include <string>

#include "keeper/thorchain/state/mimir.h"

namespace blockreplay::keeper::thorchain {

Result<Pool> GetPool(const Keeper& k, const Context& ctx, const Asset& asset) {
  Pool pool;
  pool.status = PoolStatus::Available;
  const Result<bool> found = GetRecord(k, ctx, StoreKey(kPoolPrefix, asset.ToString()), &pool);
  if (!found.ok()) return found.error();
  return pool;
}

Result<std::vector<Pool>> GetPools(const Keeper& k, const Context& ctx) {
  std::vector<Pool> pools;
  for (sdk::GasIterator it = k.kv(ctx).IteratePrefix(kPoolPrefix); it.Valid(); it.Next()) {
    if (!Decode(it.value(), &pools.emplace_back())) {
      return Error::New("KVStore Error: Unmarsahl: pool");
    }
  }
  return pools;
}

Error SetPool(const Keeper& k, const Context& ctx, const Pool& pool) {
  if (pool.asset.IsEmpty()) return Error::New("cannot save a pool with an empty asset");
  SetRecord(k, ctx, StoreKey(kPoolPrefix, pool.asset.ToString()), pool);
  return {};
}

bool PoolExists(const Keeper& k, const Context& ctx, const Asset& asset) {
  return HasKey(k, ctx, StoreKey(kPoolPrefix, asset.ToString()));
}

Uint RuneValueInAsset(const Pool& pool, const Uint& rune) {
  if (pool.balance_rune.IsZero() || pool.balance_asset.IsZero()) return Uint();
  return RoundToDecimals(GetUncappedShare(pool.balance_asset, pool.balance_rune, rune),
                         pool.decimals);
}

Uint AssetValueInRune(const Pool& pool, const Uint& asset) {
  if (pool.balance_rune.IsZero() || pool.balance_asset.IsZero()) return Uint();
  return GetUncappedShare(pool.balance_rune, pool.balance_asset, asset);
}

Uint RuneDisbursementForAssetAdd(const Pool& pool, const Uint& asset) {
  if (pool.balance_rune.IsZero() || pool.balance_asset.IsZero()) return Uint();
  return GetUncappedShare(pool.balance_rune, pool.balance_asset + asset, asset);
}

Uint RuneReimbursementForAssetWithdrawal(const Pool& pool, const Uint& asset) {
  if (pool.balance_rune.IsZero() || pool.balance_asset.IsZero()) return Uint();
  return GetUncappedShare(pool.balance_rune, SafeSub(pool.balance_asset, asset), asset);
}

std::vector<Asset> DollarAnchors(const Keeper& k, const Context& ctx) {
  std::vector<Asset> assets;
  const Result<std::vector<Pool>> pools = GetPools(k, ctx);
  if (!pools.ok()) return assets;
  for (const Pool& pool : *pools) {
    std::string key = "TorAnchor-" + pool.asset.ToString();
    std::replace(key.begin(), key.end(), '.', '-');
    if (GetMimir(k, ctx, key) > 0) assets.push_back(pool.asset);
  }
  return assets;
}

Uint AnchorMedian(const Keeper& k, const Context& ctx, const std::vector<Asset>& assets) {
  std::vector<Uint> prices;
  for (const Asset& asset : assets) {
    if (IsGlobalTradingHalted(k, ctx) || IsChainTradingHalted(k, ctx, asset.chain)) continue;
    const Result<Pool> pool = GetPool(k, ctx, asset);
    if (!pool.ok() || pool->status != PoolStatus::Available) continue;
    const Uint price = RuneValueInAsset(*pool, Uint(kDollarMulti * kOne));
    if (!price.IsZero()) prices.push_back(price);
  }
  return Median(std::move(prices));
}

Uint DollarsPerRune(const Keeper& k, const Context& ctx) {
  if (const int64_t fixed = GetMimir(k, ctx, "DollarsPerRune"); fixed > 0) {
    return Uint(static_cast<uint64_t>(fixed));
  }
  return AnchorMedian(k, ctx, DollarAnchors(k, ctx)) / Uint(kDollarMulti);
}

Uint DollarConfigInRune(const Keeper& k, const Context& ctx, ConstantName name) {
  const Uint dollars = SafeUintFromInt64(GetConfigInt64(k, ctx, name));
  const Uint price = DollarsPerRune(k, ctx);
  if (price.IsZero()) return dollars;
  const Uint rune = dollars * Uint(kOne) / price;
  return Uint(RoundSignificantFigures(
      rune.ToUint64(), GetConfigInt64(k, ctx, ConstantName::kFeeUSDRoundSignificantDigits)));
}

}  // namespace blockreplay::keeper::thorchain
