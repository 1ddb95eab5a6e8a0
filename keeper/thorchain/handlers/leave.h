#pragma once

#include "keeper/thorchain/managers.h"

namespace blockreplay::keeper::thorchain {

Error ValidateBasic(const Keeper& k, const MsgLeave& message);
// Takes a node out: an active one at the next change of vaults, others at once.
Error HandleInternal(Managers& mgr, const Context& ctx, const MsgLeave& message);

}  // namespace blockreplay::keeper::thorchain
