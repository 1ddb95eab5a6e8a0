#include "keeper/thorchain/state/outbound_fees.h"

#include <algorithm>
#include <string>

#include "keeper/thorchain/common/legacy_dec.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/pools.h"

namespace blockreplay::keeper::thorchain {
namespace {

constexpr std::string_view kWithheldPrefix = "outbound_fee_withheld_rune/";
constexpr std::string_view kSpentPrefix = "outbound_fee_spent_rune/";

Error SetAmount(const Keeper& k, const Context& ctx, std::string_view prefix, std::string_view name,
                const Asset& asset, const Uint& amount) {
  if (!amount.IsUint64()) {
    return Error::New(sdk::StrCat("outbound fee ", name, " rune overflow for ", asset.ToString(),
                                  ": value ", amount.ToString(), " overflows uint64"));
  }
  SetUint64(k, ctx, StoreKey(prefix, asset.ToString()), amount.ToUint64());
  return {};
}

Uint GetAmount(const Keeper& k, const Context& ctx, std::string_view prefix, const Asset& asset) {
  uint64_t amount = 0;
  GetUint64(k, ctx, StoreKey(prefix, asset.ToString()), &amount);
  return Uint(amount);
}

LegacyDec ToDec(const Uint& value) { return *LegacyDec::Parse(value.ToString()); }

}  // namespace

Uint GetOutboundTxFee(const Keeper& k, const Context& ctx) {
  if (GetMimir(k, ctx, ToString(ConstantName::kEnableUSDFees)) > 0) {
    return DollarConfigInRune(k, ctx, ConstantName::kNativeOutboundFeeUSD);
  }
  return SafeUintFromInt64(GetConfigInt64(k, ctx, ConstantName::kOutboundTransactionFee));
}

Result<Uint> GetOutboundFeeWithheldRune(const Keeper& k, const Context& ctx, const Asset& asset) {
  Uint withheld = GetAmount(k, ctx, kWithheldPrefix, asset);
  if (withheld.IsZero()) {
    withheld = GetSurplusForTargetMultiplier(k, ctx, Uint(kMaxBasisPoints));
    KEEPER_RETURN_IF_ERROR(SetAmount(k, ctx, kWithheldPrefix, "withheld", asset, withheld));
  }
  return withheld;
}

Error AddToOutboundFeeWithheldRune(const Keeper& k, const Context& ctx, const Asset& asset,
                                   const Uint& amount) {
  KEEPER_ASSIGN_OR_RETURN(const Uint withheld, GetOutboundFeeWithheldRune(k, ctx, asset));
  return SetAmount(k, ctx, kWithheldPrefix, "withheld", asset, withheld + amount);
}

Uint GetOutboundFeeSpentRune(const Keeper& k, const Context& ctx, const Asset& asset) {
  return GetAmount(k, ctx, kSpentPrefix, asset);
}

Error AddToOutboundFeeSpentRune(const Keeper& k, const Context& ctx, const Asset& asset,
                                const Uint& amount) {
  const Uint spent = GetOutboundFeeSpentRune(k, ctx, asset);
  return SetAmount(k, ctx, kSpentPrefix, "spent", asset, spent + amount);
}

Uint GetSurplusForTargetMultiplier(const Keeper& k, const Context& ctx, const Uint& target) {
  const auto config = [&](ConstantName name) {
    return SafeUintFromInt64(GetConfigInt64(k, ctx, name));
  };
  const Uint surplus = config(ConstantName::kTargetOutboundFeeSurplusRune);
  const Uint most = config(ConstantName::kMaxOutboundFeeMultiplierBasisPoints);
  const Uint least = config(ConstantName::kMinOutboundFeeMultiplierBasisPoints);
  const Uint multiplier = std::min(std::max(target, least), most);
  const Uint range = SafeSub(most, least);
  if (range.IsZero()) return surplus;
  return (ToDec(SafeSub(most, multiplier)) / ToDec(range) * ToDec(surplus)).RoundToUint();
}

}  // namespace blockreplay::keeper::thorchain
