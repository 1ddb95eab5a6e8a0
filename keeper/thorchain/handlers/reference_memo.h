#pragma once

#include "keeper/thorchain/managers.h"

namespace blockreplay::keeper::thorchain {

Error ValidateBasic(const Keeper& k, const MsgReferenceMemo& message);
// Registers a memo under the next free number.
Error HandleInternal(Managers& mgr, const Context& ctx, const MsgReferenceMemo& message);

}  // namespace blockreplay::keeper::thorchain
