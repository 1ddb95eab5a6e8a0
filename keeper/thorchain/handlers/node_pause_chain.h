#pragma once

#include <memory>

#include "keeper/thorchain/handlers/handler.h"

namespace blockreplay::keeper::thorchain {

// types.MsgNodePauseChain: a node pauses all chains for a while, or takes that back, once per
// churn.
std::unique_ptr<sdk::MessageHandler> NewNodePauseChainHandler(Managers* managers);

}  // namespace blockreplay::keeper::thorchain
