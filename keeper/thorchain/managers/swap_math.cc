#include "keeper/thorchain/managers/swap_math.h"

#include <algorithm>
#include <vector>

#include "keeper/thorchain/common/legacy_dec.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/pools.h"

namespace blockreplay::keeper::thorchain {
namespace {

ConstantName MinSlipConstant(const Asset& asset) {
  if (asset.IsSynthetic()) return ConstantName::kSynthSlipMinBps;
  if (asset.IsTrade()) return ConstantName::kTradeAccountsSlipMinBps;
  if (asset.IsDerived()) return ConstantName::kDerivedSlipMinBps;
  if (asset.IsSecured()) return ConstantName::kSecuredAssetSlipMinBps;
  return ConstantName::kL1SlipMinBps;
}

}  // namespace

Uint CalcAssetEmission(const Uint& X, const Uint& x, const Uint& Y) {
  const Uint numerator = x * X * Y;
  const Uint denominator = (x + X) * (x + X);
  return denominator.IsZero() ? Uint() : numerator / denominator;
}

Uint CalcSwapSlip(const Uint& X, const Uint& x) {
  const LegacyDec total = LegacyDec(x) + LegacyDec(X);
  if (total.IsZero()) return Uint();
  const LegacyDec slip = LegacyDec(x) / total * LegacyDec(int64_t{kMaxBasisPoints});
  return Uint(static_cast<uint64_t>(slip.RoundToInt64()));
}

SwapOutcome CalcSwap(const Uint& X, const Uint& x, const Uint& Y, const Uint& slip,
                     const Uint& min_slip) {
  SwapOutcome outcome;
  if (min_slip > slip) {
    outcome.slip = min_slip;
    const Uint product = x * Y;
    const Uint numerator = GetSafeShare(min_slip, Uint(kMaxBasisPoints), product);
    const Uint denominator = x + X;
    if (denominator.IsZero()) return outcome;
    outcome.liquidity_fee = numerator / denominator;
    outcome.emitted = SafeSub(product / denominator, outcome.liquidity_fee);
    return outcome;
  }
  outcome.slip = slip;
  const Uint numerator = x * x * Y;
  const Uint denominator = (x + X) * (x + X);
  if (!denominator.IsZero()) outcome.liquidity_fee = numerator / denominator;
  outcome.emitted = CalcAssetEmission(X, x, Y);
  return outcome;
}

bool IsStableToStable(const Keeper& k, const Context& ctx, const Asset& source,
                      const Asset& target) {
  const std::vector<Asset> anchors = DollarAnchors(k, ctx);
  const auto is_anchor = [&](const Asset& asset) {
    return std::find(anchors.begin(), anchors.end(), asset.GetLayer1Asset()) != anchors.end();
  };
  return is_anchor(source) && is_anchor(target);
}

Uint GetMinSlip(const Keeper& k, const Context& ctx, const Asset& asset, bool stable) {
  if (stable) {
    const int64_t slip = GetConfigInt64(k, ctx, ConstantName::kStableSlipMinBps);
    if (slip > 0) return Uint(static_cast<uint64_t>(slip));
  }
  return SafeUintFromInt64(GetConfigInt64(k, ctx, MinSlipConstant(asset)));
}

}  // namespace blockreplay::keeper::thorchain
