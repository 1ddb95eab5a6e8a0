#pragma once

// MsgDeposit: native assets with a memo. A MsgSend to the module's account is one too.

#include <memory>
#include <string_view>

#include "keeper/thorchain/handlers/handler.h"

namespace blockreplay::keeper::thorchain {

// At most one of these in a transaction.
inline constexpr std::string_view kDepositGroup = "deposit msg";

Error ValidateDeposit(Managers& mgr, const Context& ctx, const MsgDeposit& message);
Error RunDeposit(Managers& mgr, const Context& ctx, const MsgDeposit& message);

std::unique_ptr<sdk::MessageHandler> NewDepositHandler(Managers* managers);

}  // namespace blockreplay::keeper::thorchain
