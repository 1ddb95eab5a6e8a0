#include "keeper/thorchain/managers/gas.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/network_fees.h"
#include "keeper/thorchain/state/outbound_fees.h"
#include "keeper/thorchain/state/pools.h"

namespace blockreplay::keeper::thorchain {
namespace {

// The multiplier if its bounds make no sense.
constexpr uint64_t kDefaultMultiplier = 30'000;

// From `most`, without a surplus of fees, down to `least` at the surplus that is aimed at.
Uint CalcOutboundFeeMultiplier(const Uint& target_surplus, const Uint& spent, const Uint& withheld,
                               const Uint& most, const Uint& least) {
  if (target_surplus.IsZero()) return most;
  if (least > most) return Uint(kDefaultMultiplier);
  const Uint surplus = SafeSub(withheld, spent);
  return SafeSub(most, GetSafeShare(surplus, target_surplus, SafeSub(most, least)));
}

Uint UnsignedConfig(const Keeper& k, const Context& ctx, ConstantName name) {
  return Uint(static_cast<uint64_t>(GetConfigInt64(k, ctx, name)));
}

}  // namespace

Result<Uint> GetAssetOutboundFee(const Keeper& k, const Context& ctx, const Asset& asset,
                                 bool in_rune) {
  if (asset.IsNative()) return Uint();
  const Chain& chain = asset.GetChain();
  const Asset& gas_asset = chain.GetGasAsset();
  KEEPER_ASSIGN_OR_RETURN(const NetworkFee network_fee, GetNetworkFee(k, ctx, chain));
  if (CheckNetworkFee(network_fee)) return Uint();

  KEEPER_ASSIGN_OR_RETURN(const Pool gas_pool, GetPool(k, ctx, gas_asset));
  const Uint least_dollars = UnsignedConfig(k, ctx, ConstantName::kMinimumL1OutboundFeeUSD);
  const Uint price = DollarsPerRune(k, ctx);
  Uint least_fee;
  if (!price.IsZero()) {
    least_fee = RuneValueInAsset(gas_pool, GetUncappedShare(least_dollars, price, Uint(kOne)));
  }

  const Result<Uint> withheld = GetOutboundFeeWithheldRune(k, ctx, asset);
  const Uint spent = GetOutboundFeeSpentRune(k, ctx, asset);
  const Uint target = UnsignedConfig(k, ctx, ConstantName::kTargetOutboundFeeSurplusRune);
  const Uint most = UnsignedConfig(k, ctx, ConstantName::kMaxOutboundFeeMultiplierBasisPoints);
  const Uint least = UnsignedConfig(k, ctx, ConstantName::kMinOutboundFeeMultiplierBasisPoints);
  const Uint multiplier =
      CalcOutboundFeeMultiplier(target, spent, withheld.ok() ? *withheld : Uint(), most, least);

  const Uint base_fee = Uint(network_fee.transaction_size) *
                        Uint(network_fee.transaction_fee_rate) * Uint(kOne) /
                        chain.GetGasUnits().second;
  Uint fee = RoundToDecimals(GetUncappedShare(multiplier, Uint(kMaxBasisPoints), base_fee),
                             gas_pool.decimals);
  fee = std::max(fee, least_fee);
  if (asset == gas_asset && !in_rune) return fee;

  // By way of RUNE to the asset.
  if (gas_pool.balance_asset.IsZero() || gas_pool.balance_rune.IsZero()) return Uint();
  fee = AssetValueInRune(gas_pool, fee);
  if (in_rune) return fee;
  KEEPER_ASSIGN_OR_RETURN(const Pool pool, GetPool(k, ctx, asset));
  return RuneValueInAsset(pool, fee);
}

Result<GasDetails> GetGasDetails(const Keeper& k, const Context& ctx, const Chain& chain) {
  NetworkFee fee;
  // The node compares the exact text here, unlike elsewhere.
  if (chain.raw() == chains::kTHOR.raw()) {
    fee.chain = chains::kTHOR;
    fee.transaction_size = 1;
    fee.transaction_fee_rate = GetOutboundTxFee(k, ctx).ToUint64();
  } else {
    Result<NetworkFee> stored = GetNetworkFee(k, ctx, chain);
    if (!stored.ok()) {
      return Error::Opaque(sdk::StrCat("fail to get network fee for chain(", chain.ToString(), ")"),
                           stored.error());
    }
    fee = *std::move(stored);
  }
  if (Error error = CheckNetworkFee(fee); error) {
    return Error::Opaque(sdk::StrCat("network fee for chain(", chain.ToString(), ") is invalid"),
                         error);
  }

  Uint rate(fee.transaction_fee_rate);
  // Half as much again, so that the transaction gets in when fees rise.
  if (!chain.IsTHORChain()) rate = rate * Uint(3) / Uint(2);
  const int64_t decimals = chain.GetGasAssetDecimal();
  const Uint most = rate * Uint(fee.transaction_size) * Uint(kOne) / chain.GetGasUnits().second;
  GasDetails details;
  details.max_gas = Coin(chain.GetGasAsset(), RoundToDecimals(most, decimals));
  details.max_gas.decimals = decimals;
  details.gas_rate = static_cast<int64_t>(rate.ToUint64());
  return details;
}

void AddGasAsset(Managers& mgr, const Asset& asset, const Gas& gas, bool count_transaction) {
  const auto item =
      std::find_if(mgr.out_asset_gas.begin(), mgr.out_asset_gas.end(),
                   [&](const Managers::OutAssetGas& known) { return known.asset == asset; });
  if (item != mgr.out_asset_gas.end()) {
    item->gas = item->gas.Add(gas);
  } else {
    mgr.out_asset_gas.push_back({asset, gas});
  }
  if (!count_transaction) return;
  std::vector<Asset> counted;
  for (const Coin& coin : gas) {
    if (std::find(counted.begin(), counted.end(), coin.asset) != counted.end()) continue;
    counted.push_back(coin.asset);
    const auto count = std::find_if(
        mgr.gas_counts.begin(), mgr.gas_counts.end(),
        [&](const std::pair<Asset, int64_t>& known) { return known.first == coin.asset; });
    if (count != mgr.gas_counts.end()) {
      ++count->second;
    } else {
      mgr.gas_counts.emplace_back(coin.asset, 1);
    }
  }
}

}  // namespace blockreplay::keeper::thorchain
