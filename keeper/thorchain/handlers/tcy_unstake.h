#pragma once

#include "keeper/thorchain/managers.h"

namespace blockreplay::keeper::thorchain {

Error ValidateBasic(const Keeper& k, const MsgTCYUnstake& message);
// Gives back a part of what is staked.
Error HandleInternal(Managers& mgr, const Context& ctx, const MsgTCYUnstake& message);

}  // namespace blockreplay::keeper::thorchain
