#pragma once

#include "keeper/thorchain/managers.h"

namespace blockreplay::keeper::thorchain {

Error ValidateBasic(const Keeper& k, const MsgReBond& message);
// Hands bond over to another provider of the same node.
Error HandleInternal(Managers& mgr, const Context& ctx, const MsgReBond& message);

}  // namespace blockreplay::keeper::thorchain
