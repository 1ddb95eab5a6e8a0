#pragma once

// MsgPriceFeedQuorumBatch: the nodes' prices of this block, one feed each.

#include "keeper/thorchain/handlers/handler.h"

namespace blockreplay::keeper::thorchain {

std::unique_ptr<sdk::MessageHandler> NewPriceFeedQuorumBatchHandler(Managers* managers);

}  // namespace blockreplay::keeper::thorchain
