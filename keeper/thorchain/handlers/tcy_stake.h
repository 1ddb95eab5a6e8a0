#pragma once

#include "keeper/thorchain/managers.h"

namespace blockreplay::keeper::thorchain {

Error ValidateBasic(const Keeper& k, const MsgTCYStake& message);
// The TCY is in the module already.
Error HandleInternal(Managers& mgr, const Context& ctx, const MsgTCYStake& message);

}  // namespace blockreplay::keeper::thorchain
