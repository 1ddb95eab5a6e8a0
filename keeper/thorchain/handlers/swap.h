#pragma once

#include "keeper/thorchain/managers.h"

namespace blockreplay::keeper::thorchain {

// The stateless checks of a swap.
Error ValidateBasic(const Keeper& k, const MsgSwap& message);
// Those and the ones against the state, which a swap has to pass when it is made, and before it
// enters the advanced queue.
Error ValidateSwap(Managers& mgr, const Context& ctx, const MsgSwap& message);

}  // namespace blockreplay::keeper::thorchain
