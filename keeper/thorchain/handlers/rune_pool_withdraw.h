#pragma once

#include "keeper/thorchain/managers.h"

namespace blockreplay::keeper::thorchain {

Error ValidateBasic(const Keeper& k, const MsgRunePoolWithdraw& message);
// Units in RUNEPool for RUNE; the reserve buys them if there isn't enough of it.
Error HandleInternal(Managers& mgr, const Context& ctx, const MsgRunePoolWithdraw& message);

}  // namespace blockreplay::keeper::thorchain
