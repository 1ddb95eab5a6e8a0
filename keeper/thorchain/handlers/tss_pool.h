#pragma once

#include <memory>

#include "keeper/thorchain/handlers/handler.h"

namespace blockreplay::keeper::thorchain {

// types.MsgTssPool: a member of a vault to be tells that its keys were made, or who kept them from
// being made.
std::unique_ptr<sdk::MessageHandler> NewTssPoolHandler(Managers* managers);

}  // namespace blockreplay::keeper::thorchain
