#pragma once

#include <memory>

#include "keeper/thorchain/handlers/handler.h"

namespace blockreplay::keeper::thorchain {

// types.MsgSetIPAddress: a node tells where it can be reached.
std::unique_ptr<sdk::MessageHandler> NewSetIpAddressHandler(Managers* managers);

}  // namespace blockreplay::keeper::thorchain
