#pragma once

// Messages that the node makes itself from memos, of deposits and of observed transactions.
//
// A handler of one is two functions, in a header that handlers/internal.cc includes:
//   Error ValidateBasic(const Keeper& k, const MsgX& message);
//   Error HandleInternal(Managers& mgr, const Context& ctx, const MsgX& message);
// The second one begins with the handler's own validation. MsgSwap has the first only.

#include <variant>

#include "keeper/thorchain/handlers/handler.h"

namespace blockreplay::keeper::thorchain {

using InternalMessage =
    std::variant<MsgOutboundTx, MsgSwap, MsgReserveContributor, MsgBond, MsgUnBond, MsgReBond,
                 MsgLeave, MsgMaint, MsgDonate, MsgWithdrawLiquidity, MsgAddLiquidity, MsgRefundTx,
                 MsgMigrate, MsgRagnarok, MsgNoOp, MsgConsolidate, MsgManageTHORName,
                 MsgReferenceMemo, MsgTradeAccountDeposit, MsgTradeAccountWithdrawal,
                 MsgSecuredAssetDeposit, MsgSecuredAssetWithdraw, MsgRunePoolDeposit,
                 MsgRunePoolWithdraw, MsgModifyLimitSwap, MsgWasmExec, MsgSwitch, MsgTCYClaim,
                 MsgTCYStake, MsgTCYUnstake, MsgOperatorRotate>;

// What a handler tells its caller beside success. HandleInternal of outbounds and refunds returns
// Result<InternalResult> instead of Error.
struct InternalResult {
  // The vault of an outbound was slashed, gas included.
  bool vault_slashed = false;
};

// Its stateless checks.
Error ValidateInternalMessage(const Keeper& k, const InternalMessage& message);
// On a branch of its own, whose writes and events stay only if it succeeds.
Result<InternalResult> HandleInternalMessage(Managers& mgr, const Context& ctx,
                                             const InternalMessage& message);

}  // namespace blockreplay::keeper::thorchain
