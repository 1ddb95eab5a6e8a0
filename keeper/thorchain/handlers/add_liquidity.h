#pragma once

#include "keeper/thorchain/managers.h"

namespace blockreplay::keeper::thorchain {

Error ValidateBasic(const Keeper& k, const MsgAddLiquidity& message);
// Adds both sides to a pool, or keeps one side until the other comes. Coins of another asset than
// the pool's are swapped first, for synthetic assets.
Error HandleInternal(Managers& mgr, const Context& ctx, const MsgAddLiquidity& message);

}  // namespace blockreplay::keeper::thorchain
