#pragma once

#include "keeper/thorchain/managers.h"

namespace blockreplay::keeper::thorchain {

Error ValidateBasic(const Keeper& k, const MsgWithdrawLiquidity& message);
// Takes a position, or a part of it, out of a pool and sends it to its owner. Coins that came with
// the request are given away.
Error HandleInternal(Managers& mgr, const Context& ctx, const MsgWithdrawLiquidity& message);

}  // namespace blockreplay::keeper::thorchain
