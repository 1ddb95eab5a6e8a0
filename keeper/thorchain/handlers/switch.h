#pragma once

#include "keeper/thorchain/managers.h"

namespace blockreplay::keeper::thorchain {

Error ValidateBasic(const Keeper& k, const MsgSwitch& message);
// Mints native tokens for those of another chain, which are burned there.
Error HandleInternal(Managers& mgr, const Context& ctx, const MsgSwitch& message);

}  // namespace blockreplay::keeper::thorchain
