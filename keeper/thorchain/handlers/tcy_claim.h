#pragma once

#include "keeper/thorchain/managers.h"

namespace blockreplay::keeper::thorchain {

Error ValidateBasic(const Keeper& k, const MsgTCYClaim& message);
// Stakes the TCY that an address of another chain may claim for an account.
Error HandleInternal(Managers& mgr, const Context& ctx, const MsgTCYClaim& message);

}  // namespace blockreplay::keeper::thorchain
