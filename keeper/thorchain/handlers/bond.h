#pragma once

#include "keeper/thorchain/managers.h"

namespace blockreplay::keeper::thorchain {

Error ValidateBasic(const Keeper& k, const MsgBond& message);
// Adds to a node's bond; the first bond for an address makes it a node. Its operator may name
// others who may bond too, and set the fee.
Error HandleInternal(Managers& mgr, const Context& ctx, const MsgBond& message);

}  // namespace blockreplay::keeper::thorchain
