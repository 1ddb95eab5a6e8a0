#include "keeper/thorchain/handlers/internal.h"

#include <utility>

// Headers of handlers of internal messages belong here.
#include "keeper/thorchain/handlers/add_liquidity.h"
#include "keeper/thorchain/handlers/bond.h"
#include "keeper/thorchain/handlers/donate.h"
#include "keeper/thorchain/handlers/leave.h"
#include "keeper/thorchain/handlers/maint.h"
#include "keeper/thorchain/handlers/manage_thorname.h"
#include "keeper/thorchain/handlers/migrate.h"
#include "keeper/thorchain/handlers/modify_limit_swap.h"
#include "keeper/thorchain/handlers/operator_rotate.h"
#include "keeper/thorchain/handlers/outbound_tx.h"
#include "keeper/thorchain/handlers/rebond.h"
#include "keeper/thorchain/handlers/reference_memo.h"
#include "keeper/thorchain/handlers/reserve_contributor.h"
#include "keeper/thorchain/handlers/rune_pool_deposit.h"
#include "keeper/thorchain/handlers/rune_pool_withdraw.h"
#include "keeper/thorchain/handlers/secured_asset.h"
#include "keeper/thorchain/handlers/swap.h"
#include "keeper/thorchain/handlers/switch.h"
#include "keeper/thorchain/handlers/tcy_claim.h"
#include "keeper/thorchain/handlers/tcy_stake.h"
#include "keeper/thorchain/handlers/tcy_unstake.h"
#include "keeper/thorchain/handlers/trade_account.h"
#include "keeper/thorchain/handlers/unbond.h"
#include "keeper/thorchain/handlers/wasm_exec.h"
#include "keeper/thorchain/handlers/withdraw_liquidity.h"

namespace blockreplay::keeper::thorchain {
namespace {

Result<InternalResult> ToInternalResult(Result<InternalResult> result) { return result; }
Result<InternalResult> ToInternalResult(Error error) {
  if (error) return error;
  return InternalResult{};
}

// Swaps go to their queue instead, which end block works off.
Result<InternalResult> HandleInternal(Managers&, const Context&, const MsgSwap&) {
  throw sdk::NotNative("a swap outside of its queue");
}

}  // namespace

Error ValidateInternalMessage(const Keeper& k, const InternalMessage& message) {
  return std::visit([&](const auto& m) { return ValidateBasic(k, m); }, message);
}

Result<InternalResult> HandleInternalMessage(Managers& mgr, const Context& ctx,
                                             const InternalMessage& message) {
  sdk::CacheContext branch(ctx);
  Result<InternalResult> result = std::visit(
      [&](const auto& m) { return ToInternalResult(HandleInternal(mgr, branch.context(), m)); },
      message);
  if (result.ok()) branch.Commit();
  return result;
}

}  // namespace blockreplay::keeper::thorchain
