#include "keeper/thorchain/state/lp_pauses.h"

#include "keeper/thorchain/state/mimir.h"

namespace blockreplay::keeper::thorchain {

bool IsLiquidityPaused(const Keeper& k, const Context& ctx, const Chain& chain) {
  // In spite of its name, each one holds from its height on.
  const auto is_paused = [&](std::string_view key) {
    const int64_t height = GetMimir(k, ctx, key);
    return height > 0 && height <= ctx.height();
  };
  return is_paused("PauseLP") || is_paused("PauseLP" + chain.ToString());
}

bool IsPoolDepositPaused(const Keeper& k, const Context& ctx, const Asset& asset) {
  return GetMimir(k, ctx, "PauseLPDeposit-" + asset.MimirString()) > 0;
}

}  // namespace blockreplay::keeper::thorchain
