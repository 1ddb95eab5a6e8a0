#include "keeper/thorchain/handlers/trade_account.h"

#include <utility>

#include "keeper/thorchain/managers/trade_accounts.h"
#include "keeper/thorchain/managers/txout.h"
#include "keeper/thorchain/multi_error.h"
#include "keeper/thorchain/state/mimir.h"

namespace blockreplay::keeper::thorchain {
namespace {

Error Disabled() { return Error::New("trade accounts are disabled"); }

}  // namespace

Error ValidateBasic(const Keeper& k, const MsgTradeAccountDeposit& message) {
  if (message.asset.IsEmpty()) return Error(sdk::kErrUnknownRequest, "asset cannot be empty");
  if (message.asset.IsNative()) {
    return Error(sdk::kErrUnknownRequest, "asset cannot be THORChain asset");
  }
  if (message.amount.IsZero()) return Error(sdk::kErrUnknownRequest, "amount cannot be zero");
  for (const AccAddress& address : {message.address, message.signer}) {
    if (address.IsEmpty()) return Error(sdk::kErrInvalidAddress, address.ToString(k.network()));
  }
  if (message.tx.id.IsEmpty()) return Error(sdk::kErrUnknownRequest, "txID cannot be empty");
  return {};
}

Error ValidateBasic(const Keeper& k, const MsgTradeAccountWithdrawal& message) {
  if (message.asset.IsEmpty()) return Error(sdk::kErrUnknownRequest, "asset cannot be empty");
  if (!message.asset.IsTrade()) {
    return Error(sdk::kErrUnknownRequest, "asset must be a trade asset");
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
  TxOutItem item;
  item.coin = Coin(message.asset.GetLayer1Asset(), amount);
  item.chain = item.coin.asset.GetChain();
  item.in_hash = message.tx.id;
  item.to_address = to;
  const Result<bool> added = TryAddTxOutItem(mgr, ctx, std::move(item), Uint());
  if (!added.ok()) return MultiError(Error(kErrFailAddOutboundTx), added.error());
  return *added ? Error() : Error(kErrFailAddOutboundTx);
}

}  // namespace blockreplay::keeper::thorchain
