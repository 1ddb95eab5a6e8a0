#pragma once

// MsgNetworkFee and MsgNetworkFeeQuorum: what transactions on another chain cost.

#include "keeper/thorchain/handlers/handler.h"

namespace blockreplay::keeper::thorchain {

std::unique_ptr<sdk::MessageHandler> NewNetworkFeeHandler(Managers* managers);
std::unique_ptr<sdk::MessageHandler> NewNetworkFeeQuorumHandler(Managers* managers);

}  // namespace blockreplay::keeper::thorchain
