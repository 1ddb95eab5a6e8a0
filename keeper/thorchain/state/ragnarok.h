#pragma once

// ragnarokPending/: how many payments of the end of the network are under way.

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

int64_t GetRagnarokPending(const Keeper& k, const Context& ctx);
void SetRagnarokPending(const Keeper& k, const Context& ctx, int64_t pending);

}  // namespace blockreplay::keeper::thorchain
