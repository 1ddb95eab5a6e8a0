#include "keeper/thorchain/handlers/trade_account.h"

#include "keeper/thorchain/handlers/asset_accounts.h"
#include "keeper/thorchain/managers/trade_accounts.h"
#include "keeper/thorchain/state/mimir.h"

namespace blockreplay::keeper::thorchain {
namespace {

Error Disabled() { return Error::New("trade accounts are disabled"); }

}  // namespace

Error ValidateBasic(const Keeper& k, const MsgTradeAccountDeposit& message) {
  return CheckAssetDeposit(k, message, "asset cannot be THORChain asset");
}

Error ValidateBasic(const Keeper& k, const MsgTradeAccountWithdrawal& message) {
  return CheckAssetWithdrawal(k, message, message.asset.IsTrade(), "asset must be a trade asset");
}

Error HandleInternal(Managers& mgr, const Context& ctx, const MsgTradeAccountDeposit& message) {
  const Keeper& k = *mgr.keeper;
  // Both are read in any case.
  const int64_t enabled = GetConfigInt64(k, ctx, ConstantName::kTradeAccountsEnabled);
  const int64_t deposits = GetConfigInt64(k, ctx, ConstantName::kTradeAccountsDepositEnabled);
  if (enabled <= 0 || deposits <= 0) return Disabled();
  KEEPER_RETURN_IF_ERROR(ValidateBasic(k, message));
  return DepositToTradeAccount(k, ctx, message.asset, message.amount, message.address,
                               message.tx.from_address, message.tx.id)
      .error();
}

Error HandleInternal(Managers& mgr, const Context& ctx, const MsgTradeAccountWithdrawal& message) {
  const Keeper& k = *mgr.keeper;
  if (GetConfigInt64(k, ctx, ConstantName::kTradeAccountsEnabled) <= 0) return Disabled();
  const Address& to = message.asset_address;
  if (to.GetNetwork(to.GetChain(), k.network()) != k.network().kind) {
    return Error::New(sdk::StrCat("address(", to.ToString(), ") is not same network"));
  }
  KEEPER_RETURN_IF_ERROR(ValidateBasic(k, message));

  KEEPER_ASSIGN_OR_RETURN(const Uint amount,
                          WithdrawFromTradeAccount(k, ctx, message.asset, message.amount,
                                                   message.signer, to, message.tx.id));
  return SendOut(mgr, ctx, Coin(message.asset.GetLayer1Asset(), amount), to, message.tx.id);
}

}  // namespace blockreplay::keeper::thorchain
