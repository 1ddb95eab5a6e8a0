#pragma once

#include "keeper/thorchain/managers.h"

namespace blockreplay::keeper::thorchain {

Error ValidateBasic(const Keeper& k, const MsgManageTHORName& message);
// Registers, prolongs or changes a THORName.
Error HandleInternal(Managers& mgr, const Context& ctx, const MsgManageTHORName& message);

}  // namespace blockreplay::keeper::thorchain
