#include "keeper/thorchain/handlers/modify_limit_swap.h"

#include <string>
#include <utility>
#include <vector>

#include "keeper/thorchain/handlers/donate.h"
#include "keeper/thorchain/managers/swap_queue.h"
#include "keeper/thorchain/state/adv_swap_queue.h"
#include "keeper/thorchain/state/funds.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/pools.h"

namespace blockreplay::keeper::thorchain {
namespace {

Result<MsgSwap> FindSwap(const Keeper& k, const Context& ctx, const MsgModifyLimitSwap& message) {
  MsgSwap alike;
  alike.tx.coins = {message.source};
  alike.target_asset = message.target.asset;
  alike.trade_target = message.target.amount;
  alike.swap_type = SwapType::limit;
  const std::vector<AdvSwapQueueIndexItem> items = GetAdvSwapQueueIndex(k, ctx, alike);
  const int64_t most = GetConfigInt64(k, ctx, ConstantName::kModifyLimitSwapMaxIterations);
  int64_t count = 0;
  for (const AdvSwapQueueIndexItem& item : items) {
    if (count++ >= most) {
      return Error::New(sdk::StrCat("swap index too large, exceeded max iterations (", most, ")"));
    }
    Result<MsgSwap> swap = GetAdvSwapQueueItem(k, ctx, item.hash, item.index);
    if (swap.ok() && swap->tx.from_address == message.from) return swap;
  }
  return Error::New("could not find matching limit swap");
}

Error DonateToPool(const Keeper& k, const Context& ctx, const Asset& asset, const Uint& amount,
                   const Address& from) {
  // RUNE stays in the reserve, which it came to.
  if (asset.IsRune()) return {};
  Result<Pool> pool = GetPool(k, ctx, asset.GetLayer1Asset());
  if (!pool.ok()) return Error::Opaque("fail to get pool", pool.error());
  if (IsEmpty(*pool)) {
    return Error::New(sdk::StrCat("pool does not exist for asset ", asset.ToString()));
  }
  const Coin coin(asset, amount);
  if (asset.IsNative()) {
    if (Error error = SendFromModuleToModule(k, ctx, kReserveModule, kAsgardModule, {coin});
        error) {
      return Error::Opaque("fail to transfer funds from reserve to asgard", error);
    }
  }
  pool->balance_asset += amount;
  if (Error error = SetPool(k, ctx, *pool); error) {
    return Error::Opaque("fail to save pool", error);
  }
  Tx tx;
  tx.chain = asset.GetChain();
  tx.from_address = from;
  tx.coins = {coin};
  tx.memo = "THOR-MODIFY-LIMIT";
  EmitDonateEvent(ctx, pool->asset, tx);
  return {};
}

}  // namespace

Error ValidateBasic(const Keeper& k, const MsgModifyLimitSwap& m) {
  if (m.signer.IsEmpty()) return Error(sdk::kErrInvalidAddress, "");
  for (const Coin* coin : {&m.source, &m.target}) {
    if (absl::Status status = coin->Valid(); !status.ok()) {
      return Error(sdk::kErrUnknownRequest, std::string(status.message()));
    }
  }
  if (m.source.asset == m.target.asset) {
    return Error(sdk::kErrUnknownRequest, "source asset and target asset cannot be the same");
  }
  const Chain& chain = m.source.asset.GetChain();
  if (!m.from.IsChain(chain)) {
    return Error(sdk::kErrUnknownRequest, "from address and source asset do not match");
  }
  if (!chain.IsTHORChain()) return {};
  const absl::StatusOr<AccAddress> from = m.from.ToAccAddress(k.network());
  if (!from.ok()) return Error(sdk::kErrUnknownRequest, std::string(from.status().message()));
  if (*from != m.signer) {
    return Error(sdk::kErrUnknownRequest,
                 "from and signer address must match when source asset is native");
  }
  return {};
}

Error HandleInternal(Managers& mgr, const Context& ctx, const MsgModifyLimitSwap& message) {
  const Keeper& k = *mgr.keeper;
  KEEPER_RETURN_IF_ERROR(ValidateBasic(k, message));
  KEEPER_ASSIGN_OR_RETURN(MsgSwap swap, FindSwap(k, ctx, message));
  if (message.modified_target_amount.IsZero()) {
    KEEPER_RETURN_IF_ERROR(SettleSwap(mgr, ctx, swap, "limit swap cancelled"));
  } else {
    KEEPER_RETURN_IF_ERROR(RemoveAdvSwapQueueIndex(k, ctx, swap));
    swap.trade_target = message.modified_target_amount;
    KEEPER_RETURN_IF_ERROR(SetAdvSwapQueueItem(k, ctx, swap));
  }
  if (!message.deposit_amount.IsZero() && !message.deposit_asset.IsEmpty()) {
    if (Error error =
            DonateToPool(k, ctx, message.deposit_asset, message.deposit_amount, message.from);
        error) {
      return Error::Opaque("fail to donate modification tx funds to pool", error);
    }
  }
  ctx.events().Emit(sdk::Event(
      "limit_swap_mod", {{"from", message.from.ToString()},
                         {"source", message.source.ToString()},
                         {"target", message.target.ToString()},
                         {"modified_target_amount", message.modified_target_amount.ToString()}}));
  return {};
}

}  // namespace blockreplay::keeper::thorchain
