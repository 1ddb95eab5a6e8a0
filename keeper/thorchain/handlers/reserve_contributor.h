#pragma once

#include "keeper/thorchain/managers.h"

namespace blockreplay::keeper::thorchain {

Error ValidateBasic(const Keeper& k, const MsgReserveContributor& message);
// The RUNE is in the reserve already.
Error HandleInternal(Managers& mgr, const Context& ctx, const MsgReserveContributor& message);

}  // namespace blockreplay::keeper::thorchain
