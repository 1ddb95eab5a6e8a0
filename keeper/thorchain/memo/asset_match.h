#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "keeper/thorchain/common/asset.h"
#include "keeper/thorchain/common/chain.h"
#include "keeper/thorchain/common/uint.h"
#include "keeper/thorchain/constants/build.h"

namespace blockreplay::keeper::thorchain {

// The pools that a shortened asset is looked for in. Each call reads the store as the node's keeper
// does.
class PoolLookup {
 public:
  virtual ~PoolLookup() = default;

  // The RUNE of the pool of that asset, zero if there is none; nothing if it can't be read.
  virtual std::optional<Uint> GetBalanceRune(const Asset& asset) = 0;
  // All readable pools in the order of their keys.
  virtual void ForEachPool(
      const std::function<void(const Asset& asset, const Uint& balance_rune)>& visit) = 0;
};

// Completes a memo's asset such as ETH.USDC or ETH.USDC-EB48: the deepest pool of the chain and
// ticker whose symbol ends like that. The asset as it is if its own pool has RUNE, or if none fits.
Asset FuzzyAssetMatch(PoolLookup& pools, const Asset& asset);

// Completes a token address that a memo has the end of, if exactly one listed token of the EVM
// chain ends so, in any case; otherwise the text as it is.
std::string MatchExternalAsset(const Build& build, const Chain& chain, std::string_view text);

}  // namespace blockreplay::keeper::thorchain
