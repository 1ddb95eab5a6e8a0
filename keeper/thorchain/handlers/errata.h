#pragma once

// MsgErrataTx and MsgErrataTxQuorum: a transaction that another chain had, and has no more.

#include "keeper/thorchain/handlers/handler.h"

namespace blockreplay::keeper::thorchain {

std::unique_ptr<sdk::MessageHandler> NewErrataTxHandler(Managers* managers);
std::unique_ptr<sdk::MessageHandler> NewErrataTxQuorumHandler(Managers* managers);

}  // namespace blockreplay::keeper::thorchain
