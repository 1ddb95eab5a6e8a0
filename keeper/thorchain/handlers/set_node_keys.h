#pragma once

#include <memory>

#include "keeper/thorchain/handlers/handler.h"

namespace blockreplay::keeper::thorchain {

// types.MsgSetNodeKeys: an operator gives the keys of a whitelisted node.
std::unique_ptr<sdk::MessageHandler> NewSetNodeKeysHandler(Managers* managers);

}  // namespace blockreplay::keeper::thorchain
