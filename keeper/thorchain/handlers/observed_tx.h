#pragma once

// MsgObservedTxQuorum, MsgObservedTxIn and MsgObservedTxOut: transactions to and from the vaults.

#include "keeper/thorchain/handlers/handler.h"

namespace blockreplay::keeper::thorchain {

std::unique_ptr<sdk::MessageHandler> NewObservedTxQuorumHandler(Managers* managers);
std::unique_ptr<sdk::MessageHandler> NewObservedTxInHandler(Managers* managers);
std::unique_ptr<sdk::MessageHandler> NewObservedTxOutHandler(Managers* managers);

}  // namespace blockreplay::keeper::thorchain
