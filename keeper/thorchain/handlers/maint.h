#pragma once

#include "keeper/thorchain/managers.h"

namespace blockreplay::keeper::thorchain {

Error ValidateBasic(const Keeper& k, const MsgMaint& message);
// Turns a node's maintenance mode on or off.
Error HandleInternal(Managers& mgr, const Context& ctx, const MsgMaint& message);

}  // namespace blockreplay::keeper::thorchain
