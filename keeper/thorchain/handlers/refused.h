#pragma once

#include "keeper/sdk/tx.h"
#include "keeper/thorchain/managers.h"

namespace blockreplay::keeper::thorchain {

// Registers the messages that no transaction can bring about anything with: those that a module
// serves, but for contracts only, so that the ante chain refuses them; and those that the node
// makes itself from memos, which no service takes.
void RegisterRefusedMessages(Managers* managers, sdk::MessageRouter* router);

}  // namespace blockreplay::keeper::thorchain
