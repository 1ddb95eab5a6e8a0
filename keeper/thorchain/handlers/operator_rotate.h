#pragma once

#include "keeper/thorchain/managers.h"

namespace blockreplay::keeper::thorchain {

Error ValidateBasic(const Keeper& k, const MsgOperatorRotate& message);
// Gives all nodes of an operator to another one.
Error HandleInternal(Managers& mgr, const Context& ctx, const MsgOperatorRotate& message);

}  // namespace blockreplay::keeper::thorchain
