#pragma once

// MsgSolvency and MsgSolvencyQuorum: what a vault's wallet really holds on a chain.

#include "keeper/thorchain/handlers/handler.h"

namespace blockreplay::keeper::thorchain {

std::unique_ptr<sdk::MessageHandler> NewSolvencyHandler(Managers* managers);
std::unique_ptr<sdk::MessageHandler> NewSolvencyQuorumHandler(Managers* managers);

}  // namespace blockreplay::keeper::thorchain
