#pragma once

#include "keeper/sdk/tx.h"
#include "keeper/thorchain/managers.h"

namespace blockreplay::keeper::thorchain {

// Registers the messages that no transaction can bring about anything with: those that a module
// serves, but for contracts or a government only, so that the ante chain refuses them; and those
// that no service takes, most of which the node makes itself from memos.
void RegisterRefusedMessages(Managers* managers, sdk::MessageRouter* router);

}  // namespace blockreplay::keeper::thorchain
