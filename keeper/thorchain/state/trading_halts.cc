#include "keeper/thorchain/state/trading_halts.h"

#include <algorithm>
#include <string>
#include <utility>

#include "keeper/thorchain/state/mimir.h"

namespace blockreplay::keeper::thorchain {

bool IsRagnarok(const Keeper& k, const Context& ctx, std::vector<Asset> assets) {
  const size_t given = assets.size();
  std::vector<std::string> seen;
  for (size_t i = 0; i < given; ++i) {
    const Asset& gas_asset = assets[i].GetChain().GetGasAsset();
    if (assets[i] == gas_asset ||
        std::find(seen.begin(), seen.end(), gas_asset.MimirString()) != seen.end()) {
      continue;
    }
    seen.push_back(gas_asset.MimirString());
    assets.push_back(gas_asset);
  }
  return std::any_of(assets.begin(), assets.end(), [&](const Asset& asset) {
    return GetMimir(k, ctx, "RAGNAROK-" + asset.MimirString()) > 0;
  });
}

bool IsTCYTradingHalted(const Keeper& k, const Context& ctx) {
  const int64_t height = GetMimir(k, ctx, "HaltTCYTrading");
  if (height > 0 && height <= ctx.height()) return true;
  return IsGlobalTradingHalted(k, ctx) || IsChainHalted(k, ctx, chains::kTHOR);
}

bool IsTradingHalted(const Keeper& k, const Context& ctx, const MsgSwap& message) {
  if (message.tx.coins.empty()) return IsGlobalTradingHalted(k, ctx);
  const Asset& source = message.tx.coins.front().asset;
  const Asset& target = message.target_asset;
  // A synthetic asset always turns back into its own.
  std::vector<Asset> assets;
  if (!(source.IsSynthetic() && target == source.GetLayer1Asset())) assets = {source, target};
  if (IsRagnarok(k, ctx, std::move(assets))) return true;

  const Chain source_chain = source.GetLayer1Asset().chain;
  const Chain target_chain = target.GetLayer1Asset().chain;
  if (source.IsTCY()) {
    return IsTCYTradingHalted(k, ctx) || IsChainTradingHalted(k, ctx, target_chain);
  }
  if (target.IsTCY()) {
    return IsTCYTradingHalted(k, ctx) || IsChainTradingHalted(k, ctx, source_chain);
  }
  return IsChainTradingHalted(k, ctx, source_chain) || IsChainTradingHalted(k, ctx, target_chain) ||
         IsGlobalTradingHalted(k, ctx);
}

bool IsTradingHalted(const Keeper& k, const Context& ctx, const MsgAddLiquidity& message) {
  if (IsRagnarok(k, ctx, {message.asset})) return true;
  if (message.asset.IsTCY()) return IsTCYTradingHalted(k, ctx);
  return IsChainTradingHalted(k, ctx, message.asset.chain) || IsGlobalTradingHalted(k, ctx);
}

}  // namespace blockreplay::keeper::thorchain
