#pragma once

#include "keeper/sdk/tx.h"
#include "keeper/thorchain/managers.h"

namespace blockreplay::keeper::thorchain {

// All messages that transactions can carry.
void RegisterHandlers(Managers* managers, sdk::MessageRouter* router);

}  // namespace blockreplay::keeper::thorchain
