#include "keeper/thorchain/state/liquidity_providers.h"

#include <string>

namespace blockreplay::keeper::thorchain {
namespace {

std::string Key(const LiquidityProvider& provider) {
  const Address& address =
      provider.rune_address.IsEmpty() ? provider.asset_address : provider.rune_address;
  return StoreKey("lp/", provider.asset.ToString(), "/", address.ToString());
}

}  // namespace

Result<LiquidityProvider> GetLiquidityProvider(const Keeper& k, const Context& ctx,
                                               const Asset& asset, const Address& address) {
  LiquidityProvider provider;
  provider.asset = asset;
  (address.IsChain(chains::kTHOR) ? provider.rune_address : provider.asset_address) = address;
  const Result<bool> found = GetRecord(k, ctx, Key(provider), &provider);
  if (!found.ok()) return found.error();
  return provider;
}

void SetLiquidityProvider(const Keeper& k, const Context& ctx, const LiquidityProvider& provider) {
  SetRecord(k, ctx, Key(provider), provider);
}

void RemoveLiquidityProvider(const Keeper& k, const Context& ctx,
                             const LiquidityProvider& provider) {
  DeleteKey(k, ctx, Key(provider));
}

}  // namespace blockreplay::keeper::thorchain
