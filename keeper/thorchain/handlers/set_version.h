#pragma once

#include <memory>

#include "keeper/thorchain/handlers/handler.h"

namespace blockreplay::keeper::thorchain {

// types.MsgSetVersion: a node tells which version it runs.
std::unique_ptr<sdk::MessageHandler> NewSetVersionHandler(Managers* managers);

}  // namespace blockreplay::keeper::thorchain
