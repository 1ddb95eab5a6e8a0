#pragma once

#include "keeper/thorchain/managers.h"

namespace blockreplay::keeper::thorchain {

Error ValidateBasic(const Keeper& k, const MsgDonate& message);
// Adds to a pool without a share in it in return.
Error HandleInternal(Managers& mgr, const Context& ctx, const MsgDonate& message);

// Tells that the coins of `tx` went to the pool.
void EmitDonateEvent(const Context& ctx, const Asset& pool, const Tx& tx);

}  // namespace blockreplay::keeper::thorchain
