#pragma once

// Outbounds and refunds that were observed: they are matched with what was scheduled.

#include "keeper/thorchain/handlers/internal.h"

namespace blockreplay::keeper::thorchain {

Error ValidateBasic(const Keeper& k, const MsgOutboundTx& message);
Error ValidateBasic(const Keeper& k, const MsgRefundTx& message);
Result<InternalResult> HandleInternal(Managers& mgr, const Context& ctx,
                                      const MsgOutboundTx& message);
Result<InternalResult> HandleInternal(Managers& mgr, const Context& ctx,
                                      const MsgRefundTx& message);

}  // namespace blockreplay::keeper::thorchain
