#pragma once

// MsgDeposit: native assets with a memo. A MsgSend to the module's account is one too.

#include "keeper/thorchain/handlers/handler.h"

namespace blockreplay::keeper::thorchain {

// At most one of these in a transaction.
inline constexpr std::string_view kDepositGroup = "deposit msg";

Error ValidateDeposit(Managers& mgr, const Context& ctx, const MsgDeposit& message);
Error RunDeposit(Managers& mgr, const Context& ctx, const MsgDeposit& message);

}  // namespace blockreplay::keeper::thorchain
