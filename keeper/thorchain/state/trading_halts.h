#pragma once

// Whether a swap or an addition of liquidity has to wait.

#include <vector>

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

// The pool of one of the assets, or of the gas of its chain, is being closed.
bool IsRagnarok(const Keeper& k, const Context& ctx, std::vector<Asset> assets);
bool IsTCYTradingHalted(const Keeper& k, const Context& ctx);
bool IsTradingHalted(const Keeper& k, const Context& ctx, const MsgSwap& message);
bool IsTradingHalted(const Keeper& k, const Context& ctx, const MsgAddLiquidity& message);

}  // namespace blockreplay::keeper::thorchain
