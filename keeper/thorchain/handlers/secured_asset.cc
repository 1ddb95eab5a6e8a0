#include "keeper/thorchain/handlers/secured_asset.h"

#include <string>
#include <utility>

#include "keeper/thorchain/managers/liquidity_caps.h"
#include "keeper/thorchain/managers/secured_assets.h"
#include "keeper/thorchain/managers/txout.h"
#include "keeper/thorchain/multi_error.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/pools.h"

namespace blockreplay::keeper::thorchain {
namespace {

bool IsHalted(const Keeper& k, const Context& ctx, std::string_view what, const Chain& chain) {
  const int64_t height = GetMimir(k, ctx, sdk::StrCat("HaltSecured", what, "-", chain.ToString()));
  return height > 0 && height <= ctx.height();
}

}  // namespace

Error ValidateBasic(const Keeper& k, const MsgSecuredAssetDeposit& message) {
  if (message.asset.IsEmpty()) return Error(sdk::kErrUnknownRequest, "asset cannot be empty");
  if (message.asset.IsNative()) {
    return Error(sdk::kErrUnknownRequest, "native assets cannot be deposited");
  }
  if (message.amount.IsZero()) return Error(sdk::kErrUnknownRequest, "amount cannot be zero");
  for (const AccAddress& address : {message.address, message.signer}) {
    if (address.IsEmpty()) return Error(sdk::kErrInvalidAddress, address.ToString(k.network()));
  }
  if (message.tx.id.IsEmpty()) return Error(sdk::kErrUnknownRequest, "txID cannot be empty");
  return {};
}

Error ValidateBasic(const Keeper& k, const MsgSecuredAssetWithdraw& message) {
  if (message.asset.IsEmpty()) return Error(sdk::kErrUnknownRequest, "asset cannot be empty");
  if (!message.asset.IsSecured()) {
    return Error(sdk::kErrUnknownRequest, "asset must be a secured asset");
  }
  if (message.amount.IsZero()) return Error(sdk::kErrUnknownRequest, "amount cannot be zero");
  if (message.asset_address.IsEmpty()) {
    return Error(sdk::kErrUnknownRequest, "asset address cannot be empty");
  }
  if (!message.asset_address.IsChain(message.asset.GetLayer1Asset().GetChain())) {
    return Error(sdk::kErrUnknownRequest, "asset address does not match asset chain");
  }
  if (message.signer.IsEmpty()) {
    return Error(sdk::kErrInvalidAddress, message.signer.ToString(k.network()));
  }
  if (message.tx.id.IsEmpty()) return Error(sdk::kErrUnknownRequest, "txID cannot be empty");
  return {};
}

Error HandleInternal(Managers& mgr, const Context& ctx, const MsgSecuredAssetDeposit& message) {
  const Keeper& k = *mgr.keeper;
  const std::string asset = message.asset.ToString();
  if (IsHalted(k, ctx, "Deposit", message.asset.chain)) {
    return Error::New(
        sdk::StrCat(message.asset.chain.ToString(), " secured asset deposits are disabled"));
  }
  const Result<Pool> pool = GetPool(k, ctx, message.asset);
  if (!pool.ok()) return Error::New(sdk::StrCat("error loading ", asset, " pool"));
  if (!IsAvailable(*pool) || IsEmpty(*pool)) {
    return Error::New(sdk::StrCat("pool ", asset, " unavailable"));
  }
  if (IsAtTvlCap(k, ctx, {Coin(message.asset, message.amount)})) {
    return Error::New(asset + " secured deposits more than bond");
  }
  KEEPER_RETURN_IF_ERROR(ValidateBasic(k, message));
  return DepositSecuredAsset(k, ctx, message.asset, message.amount, message.address,
                             message.tx.from_address, message.tx.id)
      .error();
}

Error HandleInternal(Managers& mgr, const Context& ctx, const MsgSecuredAssetWithdraw& message) {
  const Keeper& k = *mgr.keeper;
  if (IsHalted(k, ctx, "Withdraw", message.asset.chain)) {
    return Error::New(
        sdk::StrCat(message.asset.chain.ToString(), " secured asset withdrawals are disabled"));
  }
  const Address& to = message.asset_address;
  if (!SoftEquals(k.network().kind, to.GetNetwork(to.GetChain(), k.network()))) {
    return Error::New(sdk::StrCat("address(", to.ToString(), ") is not same network"));
  }
  KEEPER_RETURN_IF_ERROR(ValidateBasic(k, message));

  KEEPER_ASSIGN_OR_RETURN(Coin coin, WithdrawSecuredAsset(k, ctx, message.asset, message.amount,
                                                          message.signer, to, message.tx.id));
  TxOutItem item;
  item.chain = coin.asset.GetChain();
  item.in_hash = message.tx.id;
  item.to_address = to;
  item.coin = std::move(coin);
  const Result<bool> added = TryAddTxOutItem(mgr, ctx, std::move(item), Uint());
  if (!added.ok()) return MultiError(Error(kErrFailAddOutboundTx), added.error());
  return *added ? Error() : Error(kErrFailAddOutboundTx);
}

}  // namespace blockreplay::keeper::thorchain
