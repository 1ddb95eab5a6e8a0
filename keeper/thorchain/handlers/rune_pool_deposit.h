#pragma once

#include "keeper/thorchain/managers.h"

namespace blockreplay::keeper::thorchain {

Error ValidateBasic(const Keeper& k, const MsgRunePoolDeposit& message);
// RUNE for units in RUNEPool.
Error HandleInternal(Managers& mgr, const Context& ctx, const MsgRunePoolDeposit& message);

}  // namespace blockreplay::keeper::thorchain
