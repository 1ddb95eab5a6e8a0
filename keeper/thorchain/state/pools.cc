#include "keeper/thorchain/state/pools.h"

#include <algorithm>
#include <string>

#include "keeper/thorchain/decode_memo.h"
#include "keeper/thorchain/last_read.h"
#include "keeper/thorchain/state/mimir.h"

namespace blockreplay::keeper::thorchain {

namespace {

constexpr size_t kMostRemembered = 1 << 12;

// From pools, mimirs and whether all is being wound up, at this height.
Uint ComputeDollarsPerRune(const Keeper& k, const Context& ctx) {
  if (const int64_t fixed = GetMimir(k, ctx, "DollarsPerRune"); fixed > 0) {
    return Uint(static_cast<uint64_t>(fixed));
  }
  return AnchorMedian(k, ctx, DollarAnchors(k, ctx)) / Uint(kDollarMulti);
}

}  // namespace

Result<SharedPool> ReadPool(const Keeper& k, const Context& ctx, const Asset& asset) {
  static const SharedPool none = [] {
    auto pool = std::make_shared<Pool>();
    pool->status = PoolStatus::Available;
    return pool;
  }();
  Result<SharedPool> pool = ReadShared<Optimisation::kPoolDecodes, kMostRemembered, Pool>(
      k, ctx, StoreKey(kPoolPrefix, asset.ToString()));
  if (pool.ok() && *pool == nullptr) return none;
  return pool;
}

Result<Pool> GetPool(const Keeper& k, const Context& ctx, const Asset& asset) {
  KEEPER_ASSIGN_OR_RETURN(const SharedPool pool, ReadPool(k, ctx, asset));
  return *pool;
}

Result<std::vector<SharedPool>> ReadPools(const Keeper& k, const Context& ctx) {
  std::vector<SharedPool> pools;
  for (sdk::GasIterator it = k.kv(ctx).IteratePrefix(kPoolPrefix); it.Valid(); it.Next()) {
    pools.push_back(DecodeShared<Optimisation::kPoolDecodes, kMostRemembered, Pool>(it.value()));
    if (pools.back() == nullptr) return Error::New("KVStore Error: Unmarsahl: pool");
  }
  return pools;
}

Result<std::vector<Pool>> GetPools(const Keeper& k, const Context& ctx) {
  KEEPER_ASSIGN_OR_RETURN(const std::vector<SharedPool> shared, ReadPools(k, ctx));
  std::vector<Pool> pools;
  pools.reserve(shared.size());
  for (const SharedPool& pool : shared) pools.push_back(*pool);
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
  const Result<std::vector<SharedPool>> pools = ReadPools(k, ctx);
  if (!pools.ok()) return assets;
  std::string key;
  for (const SharedPool& pool : *pools) {
    key = "TorAnchor-";
    key += pool->asset.ToString();
    std::replace(key.begin(), key.end(), '.', '-');
    if (GetMimir(k, ctx, key) > 0) assets.push_back(pool->asset);
  }
  return assets;
}

Uint AnchorMedian(const Keeper& k, const Context& ctx, const std::vector<Asset>& assets) {
  std::vector<Uint> prices;
  for (const Asset& asset : assets) {
    if (IsGlobalTradingHalted(k, ctx) || IsChainTradingHalted(k, ctx, asset.chain)) continue;
    const Result<SharedPool> pool = ReadPool(k, ctx, asset);
    if (!pool.ok() || (*pool)->status != PoolStatus::Available) continue;
    const Uint price = RuneValueInAsset(**pool, Uint(kDollarMulti * kOne));
    if (!price.IsZero()) prices.push_back(price);
  }
  return Median(std::move(prices));
}

Uint DollarsPerRune(const Keeper& k, const Context& ctx) {
  static const auto pools = storage::KeyRange::Prefix(kPoolPrefix);
  static const auto mimirs = storage::KeyRange::Prefix(kMimirPrefix);
  static const auto ragnarok = storage::KeyRange::Prefix(kRagnarokHeightPrefix);
  thread_local LastRead<Uint> last;
  return last.Get(Optimisation::kDollarPrices, ctx, {&pools, &mimirs, &ragnarok},
                  {static_cast<uint64_t>(ctx.height()), reinterpret_cast<uintptr_t>(k.build)},
                  [&] { return ComputeDollarsPerRune(k, ctx); });
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
