#include "keeper/thorchain/handlers/donate.h"

#include <string>
#include <utility>

#include "keeper/thorchain/managers/events.h"
#include "keeper/thorchain/multi_error.h"
#include "keeper/thorchain/state/pools.h"

namespace blockreplay::keeper::thorchain {
namespace {

Error CheckAmount(std::string_view what, const Uint& in_message, const Uint& in_tx) {
  if (in_message == in_tx) return {};
  return Error::New(sdk::StrCat(what, " amount mismatch: msg has ", in_message.ToString(),
                                " but tx has ", in_tx.ToString()));
}

}  // namespace

Error ValidateBasic(const Keeper&, const MsgDonate& m) {
  if (m.signer.IsEmpty()) return Error(sdk::kErrInvalidAddress, "");
  if (m.asset.IsEmpty()) return Error(sdk::kErrUnknownRequest, "donate asset cannot be empty");
  if (m.asset.IsRune()) return Error(sdk::kErrUnknownRequest, "asset cannot be rune");
  if (m.rune_amount.IsZero() && m.asset_amount.IsZero()) {
    return Error::New("rune and asset amount cannot be zero");
  }
  if (absl::Status status = m.tx.Valid(); !status.ok()) {
    return Error(sdk::kErrUnknownRequest, std::string(status.message()));
  }
  return {};
}

Error HandleInternal(Managers& mgr, const Context& ctx, const MsgDonate& message) {
  const Keeper& k = *mgr.keeper;
  KEEPER_RETURN_IF_ERROR(ValidateBasic(k, message));
  if (!message.asset.IsRune() && message.asset.IsNative()) return Error(kErrInvalidMessage);

  Result<Pool> pool = GetPool(k, ctx, message.asset);
  if (!pool.ok()) {
    return InternalError(pool.error(),
                         sdk::StrCat("fail to get pool for (", message.asset.ToString(), ")"));
  }
  if (IsEmpty(*pool)) {
    return Error(sdk::kErrUnknownRequest,
                 sdk::StrCat("pool ", message.asset.ToString(), " not exist"));
  }
  KEEPER_RETURN_IF_ERROR(
      CheckAmount("rune", message.rune_amount, message.tx.coins.GetCoin(assets::kRune).amount));
  KEEPER_RETURN_IF_ERROR(
      CheckAmount("asset", message.asset_amount, message.tx.coins.GetCoin(message.asset).amount));
  pool->balance_asset += message.asset_amount;
  pool->balance_rune += message.rune_amount;
  KEEPER_RETURN_IF_ERROR(SetPool(k, ctx, *pool));
  EmitDonateEvent(ctx, pool->asset, message.tx);
  return {};
}

void EmitDonateEvent(const Context& ctx, const Asset& pool, const Tx& tx) {
  sdk::Event event("donate", {{"pool", pool.ToString()}});
  AddTxAttributes(tx, &event);
  ctx.events().Emit(std::move(event));
}

}  // namespace blockreplay::keeper::thorchain
