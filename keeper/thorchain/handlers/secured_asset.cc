#include "keeper/thorchain/handlers/secured_asset.h"

#include <string>

#include "keeper/thorchain/handlers/asset_accounts.h"
#include "keeper/thorchain/managers/liquidity_caps.h"
#include "keeper/thorchain/managers/secured_assets.h"
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
  return CheckAssetDeposit(k, message, "native assets cannot be deposited");
}

Error ValidateBasic(const Keeper& k, const MsgSecuredAssetWithdraw& message) {
  return CheckAssetWithdrawal(k, message, message.asset.IsSecured(),
                              "asset must be a secured asset");
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

  KEEPER_ASSIGN_OR_RETURN(
      const Coin coin, WithdrawSecuredAsset(k, ctx, message.asset, message.amount, message.signer,
                                            to, message.tx.id));
  return SendOut(mgr, ctx, coin, to, message.tx.id);
}

}  // namespace blockreplay::keeper::thorchain
