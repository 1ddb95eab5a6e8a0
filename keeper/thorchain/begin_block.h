#pragma once

#include "keeper/thorchain/managers.h"

namespace blockreplay::keeper::thorchain {

// Pre-block and begin block of all modules. Throws NotNative where code is missing.
void BeginBlock(Managers& mgr, const Context& ctx);

}  // namespace blockreplay::keeper::thorchain
