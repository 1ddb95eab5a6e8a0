#include "keeper/thorchain/managers/derived_assets.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "keeper/thorchain/managers/liquidity_events.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/pools.h"
#include "keeper/thorchain/state/swap_slips.h"

namespace blockreplay::keeper::thorchain {
namespace {

// An anchor whose price can be trusted, and how much RUNE its pool holds.
struct Anchor {
  Asset asset;
  Uint depth;
};

// Nothing in here changes what it read before for a later asset, so mimirs are read once.
class Spawner {
 public:
  Spawner(const Keeper& k, const Context& ctx)
      : k_(k),
        ctx_(ctx),
        window_(GetConfigInt64(k, ctx, ConstantName::kMaxAnchorBlocks)),
        max_slip_(GetConfigInt64(k, ctx, ConstantName::kMaxAnchorSlip)),
        depth_basis_points_(GetConfigInt64(k, ctx, ConstantName::kDerivedDepthBasisPts)),
        min_depth_(GetConfigInt64(k, ctx, ConstantName::kDerivedMinDepth)),
        slip_target_(GetConfigInt64(k, ctx, ConstantName::kDynamicMaxAnchorTarget)),
        slip_interval_(GetConfigInt64(k, ctx, ConstantName::kDynamicMaxAnchorCalcInterval)) {}

  void Spawn(const Asset& asset) {
    const bool is_tor = asset == assets::kTOR;
    const std::vector<Asset> anchors =
        is_tor ? DollarAnchors(k_, ctx_) : std::vector<Asset>{asset.GetLayer1Asset()};
    for (const Asset& anchor : anchors) {
      if (std::find(rolled_up_.begin(), rolled_up_.end(), anchor) != rolled_up_.end()) continue;
      rolled_up_.push_back(anchor);
      RollUpSwapSlip(k_, ctx_, anchor, window_);
    }
    if (!is_tor && !asset.IsGasAsset()) return;

    const int64_t max_slip = MaxSlip(MeanSlip(asset, anchors));
    const Asset derived = asset.GetDerivedAsset();
    const Result<Pool> layer1 = GetPool(k_, ctx_, asset);
    if (!layer1.ok()) return Suspend(derived);
    // The pool of the gas asset isn't there yet.
    if (IsEmpty(*layer1) && !is_tor) return;
    if (depth_basis_points_ == 0) return Suspend(derived);
    Adjust(derived, anchors, max_slip);
  }

 private:
  std::vector<Anchor> Available(const std::vector<Asset>& anchors) const {
    std::vector<Anchor> available;
    for (const Asset& asset : anchors) {
      if (IsGlobalTradingHalted(k_, ctx_) || IsChainTradingHalted(k_, ctx_, asset.chain)) continue;
      const Result<Pool> pool = GetPool(k_, ctx_, asset);
      if (!pool.ok() || IsEmpty(*pool) || !IsAvailable(*pool)) continue;
      if (pool->balance_rune.IsZero() || pool->balance_asset.IsZero()) continue;
      available.push_back({asset, pool->balance_rune});
    }
    return available;
  }

  // The slip that counts as usual: remembered, and calculated anew now and then.
  int64_t MeanSlip(const Asset& asset, const std::vector<Asset>& anchors) const {
    int64_t slip = GetLongRollup(k_, ctx_, asset);
    if ((slip_interval_ > 0 && ctx_.height() % slip_interval_ == 0) || slip <= 0) {
      slip = CalculateMeanSlip(Available(anchors));
      SetLongRollup(k_, ctx_, asset, slip);
    }
    return slip;
  }

  int64_t CalculateMeanSlip(const std::vector<Anchor>& anchors) const {
    const int64_t oldest =
        ctx_.height() - GetConfigInt64(k_, ctx_, ConstantName::kDynamicMaxAnchorSlipBlocks);
    std::vector<Uint> medians;
    std::vector<Uint> depths;
    for (const Anchor& anchor : anchors) {
      std::vector<int64_t> slips = TakeSnapshots(anchor.asset, oldest);
      if (slips.empty()) continue;
      medians.emplace_back(static_cast<uint64_t>(Median(std::move(slips))));
      depths.push_back(anchor.depth);
    }
    const absl::StatusOr<Uint> mean = WeightedMean(medians, depths);
    return mean.ok() ? static_cast<int64_t>(mean->ToUint64()) : 0;
  }

  // Deletes those that are too old or no slip.
  std::vector<int64_t> TakeSnapshots(const Asset& asset, int64_t oldest) const {
    std::vector<int64_t> slips;
    for (sdk::GasIterator it = k_.kv(ctx_).IteratePrefix(SwapSlipSnapshotPrefix(asset)); it.Valid();
         it.Next()) {
      const std::string_view digits = it.key().substr(it.key().rfind('/') + 1);
      int64_t height = 0;
      const char* const end = digits.data() + digits.size();
      const auto [parsed, error] = std::from_chars(digits.data(), end, height);
      if (error != std::errc() || parsed != end || height < oldest) {
        DeleteKey(k_, ctx_, it.key());
        continue;
      }
      ProtoInt64 slip;
      if (!Decode(it.value(), &slip)) throw sdk::Panic("cannot decode a swap slip snapshot");
      if (slip.value <= 0) {
        DeleteKey(k_, ctx_, it.key());
        continue;
      }
      slips.push_back(slip.value);
    }
    return slips;
  }

  int64_t MaxSlip(int64_t mean_slip) const {
    constexpr int64_t kAll = kMaxBasisPoints;
    if (mean_slip <= 0 || slip_target_ <= 0 || slip_target_ >= kAll) return max_slip_;
    return mean_slip * kAll / (kAll - slip_target_);
  }

  void Suspend(const Asset& derived) const {
    if (!PoolExists(k_, ctx_, derived)) return;
    Result<Pool> pool = GetPool(k_, ctx_, derived);
    if (!pool.ok()) return;
    if (pool->status != PoolStatus::Suspended) {
      pool->status = PoolStatus::Suspended;
      pool->status_since = ctx_.height();
      EmitPoolEvent(ctx_, pool->asset, pool->status);
    }
    // An error here is only logged.
    (void)SetPool(k_, ctx_, *pool);
  }

  void Adjust(const Asset& derived, const std::vector<Asset>& anchors, int64_t max_slip) const {
    const std::vector<Anchor> available = Available(anchors);
    std::vector<Asset> priced;
    std::vector<Uint> slips;
    std::vector<Uint> depths;
    for (const Anchor& anchor : available) {
      priced.push_back(anchor.asset);
      slips.push_back(SafeUintFromInt64(GetCurrentRollup(k_, ctx_, anchor.asset)));
      depths.push_back(anchor.depth);
    }
    const Uint price = AnchorMedian(k_, ctx_, priced);
    const Uint anchor_depth = Sum(depths);
    const absl::StatusOr<Uint> mean = WeightedMean(slips, depths);
    const Uint slip = mean.ok() ? *mean : Uint();
    if (anchor_depth.IsZero() || price.IsZero()) return Suspend(derived);

    Result<Pool> pool = GetPool(k_, ctx_, derived);
    if (!pool.ok()) return;
    if (!IsAvailable(*pool) || pool->status_since == 0) {
      pool->status = PoolStatus::Available;
      pool->status_since = ctx_.height();
      pool->asset = derived;
      EmitPoolEvent(ctx_, pool->asset, pool->status);
    }

    const Uint whole(kMaxBasisPoints);
    const Uint least = GetSafeShare(Uint(static_cast<uint64_t>(min_depth_)), whole, anchor_depth);
    const Uint most =
        GetUncappedShare(Uint(static_cast<uint64_t>(depth_basis_points_)), whole, anchor_depth);
    // The more the anchors slip, the shallower: that makes it dearer to manipulate their price.
    const Uint max(static_cast<uint64_t>(max_slip));
    const Uint rune = std::max(GetSafeShare(SafeSub(max, slip), max, most), least);
    SetBalances(&*pool, rune, rune * price / Uint(kDollarMulti * kOne));
    (void)SetPool(k_, ctx_, *pool);
  }

  void SetBalances(Pool* pool, const Uint& rune, const Uint& asset) const {
    const bool add_rune = pool->balance_rune <= rune;
    const bool add_asset = pool->balance_asset <= asset;
    const Uint rune_change = add_rune ? rune - pool->balance_rune : pool->balance_rune - rune;
    const Uint asset_change = add_asset ? asset - pool->balance_asset : pool->balance_asset - asset;
    if (rune_change.IsZero() && asset_change.IsZero()) return;
    ctx_.events().Emit(sdk::Event("pool_balance_change", {{"asset", pool->asset.ToString()},
                                                          {"rune_amt", rune_change.ToString()},
                                                          {"rune_add", Text(add_rune)},
                                                          {"asset_amt", asset_change.ToString()},
                                                          {"asset_add", Text(add_asset)},
                                                          {"reason", "derived pool adjustment"}}));
    pool->balance_rune = rune;
    pool->balance_asset = asset;
  }

  static std::string Text(bool value) { return value ? "true" : "false"; }

  const Keeper& k_;
  const Context& ctx_;
  const int64_t window_;
  const int64_t max_slip_;
  const int64_t depth_basis_points_;
  const int64_t min_depth_;
  const int64_t slip_target_;
  const int64_t slip_interval_;
  std::vector<Asset> rolled_up_;
};

}  // namespace

void SpawnDerivedAssets(const Keeper& k, const Context& ctx, const Vaults& active) {
  if (active.empty()) return;
  std::vector<Asset> spawned{assets::kTOR};
  for (const Chain& chain : GetVaultChains(active.front())) {
    if (chain.IsTHORChain()) continue;
    const Asset& gas = chain.GetGasAsset();
    // Layer 2 of Ethereum: its gas asset is ETH too.
    if (chain != chains::kETH && EqualFold(gas.symbol, "ETH")) continue;
    spawned.push_back(gas);
  }
  Spawner spawner(k, ctx);
  for (const Asset& asset : spawned) spawner.Spawn(asset);
}

}  // namespace blockreplay::keeper::thorchain
