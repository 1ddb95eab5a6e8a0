#pragma once

#include <memory>

#include "keeper/thorchain/handlers/handler.h"

namespace blockreplay::keeper::thorchain {

// types.MsgTssKeysignFail: a vault member reports a failed signing and whom it blames.
std::unique_ptr<sdk::MessageHandler> NewTssKeysignFailHandler(Managers* managers);

}  // namespace blockreplay::keeper::thorchain
