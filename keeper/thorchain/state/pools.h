#pragma once

// pool/

#include <memory>
#include <vector>

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

inline constexpr std::string_view kPoolPrefix = "pool/";

// Decoded once per stored value and shared; nobody changes it.
using SharedPool = std::shared_ptr<const Pool>;

// An empty pool, in status Available, if there is none. A copy of the caller's own.
Result<Pool> GetPool(const Keeper& k, const Context& ctx, const Asset& asset);
// The same reads without the copy.
Result<SharedPool> ReadPool(const Keeper& k, const Context& ctx, const Asset& asset);
Result<std::vector<SharedPool>> ReadPools(const Keeper& k, const Context& ctx);
Result<std::vector<Pool>> GetPools(const Keeper& k, const Context& ctx);
Error SetPool(const Keeper& k, const Context& ctx, const Pool& pool);
bool PoolExists(const Keeper& k, const Context& ctx, const Asset& asset);

// ---- Without the store ----

inline bool IsAvailable(const Pool& pool) { return pool.status == PoolStatus::Available; }
inline bool IsStaged(const Pool& pool) { return pool.status == PoolStatus::Staged; }
// There was no record of it.
inline bool IsEmpty(const Pool& pool) { return pool.asset.IsEmpty(); }
// Those of liquidity providers and of synths.
inline Uint PoolUnits(const Pool& pool) { return pool.lp_units + pool.synth_units; }

// What `rune` is worth in the pool's asset, truncated to its decimals; zero for an empty pool.
Uint RuneValueInAsset(const Pool& pool, const Uint& rune);
// What `asset` is worth in RUNE; zero for an empty pool.
Uint AssetValueInRune(const Pool& pool, const Uint& asset);
// The RUNE that must leave the pool for its product to stay the same when `asset` is added to it,
// or come in when it is withdrawn. Zero for an empty pool.
Uint RuneDisbursementForAssetAdd(const Pool& pool, const Uint& asset);
Uint RuneReimbursementForAssetWithdrawal(const Pool& pool, const Uint& asset);

// ---- Prices through the pools of the dollar anchors (mimir TorAnchor-…). ----

// Those pools' assets.
std::vector<Asset> DollarAnchors(const Keeper& k, const Context& ctx);
// The middle price of RUNE in those of the assets that are traded, in 1e-8 / kDollarMulti; zero
// without any.
Uint AnchorMedian(const Keeper& k, const Context& ctx, const std::vector<Asset>& assets);
// Dollars for one RUNE, in 1e-8.
Uint DollarsPerRune(const Keeper& k, const Context& ctx);
// A constant in dollars (1e-8) as RUNE, rounded to FeeUSDRoundSignificantDigits; in dollars if
// there is no price.
Uint DollarConfigInRune(const Keeper& k, const Context& ctx, ConstantName name);

}  // namespace blockreplay::keeper::thorchain
