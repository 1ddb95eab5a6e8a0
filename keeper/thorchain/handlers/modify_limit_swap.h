#pragma once

#include "keeper/thorchain/managers.h"

namespace blockreplay::keeper::thorchain {

Error ValidateBasic(const Keeper& k, const MsgModifyLimitSwap& message);
// Changes what the sender's first swap of that pair and price has to give at least, or cancels it.
// What came along is given to the pool.
Error HandleInternal(Managers& mgr, const Context& ctx, const MsgModifyLimitSwap& message);

}  // namespace blockreplay::keeper::thorchain
