#include "keeper/thorchain/memo/asset_match.h"

#include <vector>

#include "keeper/thorchain/common/text.h"

namespace blockreplay::keeper::thorchain {

Asset FuzzyAssetMatch(PoolLookup& pools, const Asset& asset) {
  const Asset layer1 = asset.GetLayer1Asset();
  const std::optional<Uint> own_balance = pools.GetBalanceRune(layer1);
  if (!own_balance || !own_balance->IsZero()) return asset;

  // The part between the first and the second dash.
  const std::string symbol = ToUpper(layer1.symbol);
  const std::vector<std::string_view> parts = Split(symbol, '-');
  const std::string ending = parts.size() < 2 ? "" : ToLower(parts[1]);
  Asset result = asset;
  Uint deepest;
  pools.ForEachPool([&](const Asset& pool, const Uint& balance_rune) {
    if (!(pool.chain == layer1.chain) || !EqualFold(pool.ticker, layer1.ticker)) return;
    if (!ToLower(pool.symbol).ends_with(ending)) return;
    // Of equals the last one.
    if (balance_rune < deepest) return;
    deepest = balance_rune;
    result.symbol = pool.symbol;
  });
  return result;
}

std::string MatchExternalAsset(const Build& build, const Chain& chain, std::string_view text) {
  if (text.empty() || !chain.IsEVM()) return std::string(text);
  const std::string ending = ToLower(text);
  std::string_view match;
  for (const std::string_view address : build.token_addresses(chain.raw())) {
    if (!ToLower(address).ends_with(ending)) continue;
    if (!match.empty()) return std::string(text);
    match = address;
  }
  return std::string(match.empty() ? text : match);
}

}  // namespace blockreplay::keeper::thorchain
