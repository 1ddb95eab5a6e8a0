#pragma once

#include "keeper/thorchain/managers.h"

namespace blockreplay::keeper::thorchain {

Error ValidateBasic(const Keeper& k, const MsgUnBond& message);
// Pays a node's bond back while it is neither active nor about to be.
Error HandleInternal(Managers& mgr, const Context& ctx, const MsgUnBond& message);

}  // namespace blockreplay::keeper::thorchain
