#include "keeper/thorchain/handlers/switch.h"

#include <string>

#include "keeper/thorchain/errors.h"
#include "keeper/thorchain/managers/switch.h"
#include "keeper/thorchain/managers/txout.h"
#include "keeper/thorchain/multi_error.h"
#include "keeper/thorchain/state/funds.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/pub_keys.h"

namespace blockreplay::keeper::thorchain {
namespace {

// The mimir is the height up to which the token may be switched.
Error CheckEnabled(const Keeper& k, const Context& ctx, const Asset& asset) {
  const int64_t until =
      GetMimir(k, ctx, sdk::StrCat("EnableSwitch-", asset.chain.ToString(), "-", asset.symbol));
  if (until > 0 && until < ctx.height()) return {};
  return Error::New(sdk::StrCat(asset.ToString(), " switching is not enabled"));
}

Error MintNative(const Keeper& k, const Context& ctx, const MsgSwitch& message) {
  if (!IsSwitchAsset(message.asset)) return Error::New("not authorized");
  Asset native;
  native.chain = chains::kTHOR;
  native.symbol = message.asset.symbol;
  native.ticker = message.asset.ticker;
  KEEPER_RETURN_IF_ERROR(
      MintAndSendToAccount(k, ctx, message.address, Coin(native, message.amount)));
  ctx.events().Emit(sdk::Event("switch", {{"amount", message.amount.ToString()},
                                          {"asset", native.ToString()},
                                          {"rune_address", ToText(k, message.address)},
                                          {"asset_address", message.tx.from_address.ToString()},
                                          {"tx_id", message.tx.id.ToString()}}));
  return {};
}

}  // namespace

Error ValidateBasic(const Keeper&, const MsgSwitch& m) {
  if (m.asset.IsEmpty()) return Error(sdk::kErrUnknownRequest, "asset cannot be empty");
  if (m.asset.IsNative()) {
    return Error(sdk::kErrUnknownRequest, "native assets cannot be switched");
  }
  if (m.amount.IsZero()) return Error(sdk::kErrUnknownRequest, "amount cannot be zero");
  if (m.address.IsEmpty() || m.signer.IsEmpty()) return Error(sdk::kErrInvalidAddress, "");
  if (m.tx.id.IsEmpty()) return Error(sdk::kErrUnknownRequest, "txID cannot be empty");
  return {};
}

Error HandleInternal(Managers& mgr, const Context& ctx, const MsgSwitch& message) {
  const Keeper& k = *mgr.keeper;
  KEEPER_RETURN_IF_ERROR(CheckEnabled(k, ctx, message.asset));
  KEEPER_RETURN_IF_ERROR(ValidateBasic(k, message));
  KEEPER_RETURN_IF_ERROR(MintNative(k, ctx, message));

  // To an address that nobody has the key of.
  TxOutItem item;
  item.chain = message.asset.GetChain();
  item.in_hash = message.tx.id;
  item.to_address = Address(kGaiaZeroAddress);
  item.coin = Coin(message.asset, message.amount);
  const Result<bool> added = TryAddTxOutItem(mgr, ctx, item, Uint());
  if (!added.ok()) return MultiError(Error(kErrFailAddOutboundTx), added.error());
  return *added ? Error() : Error(kErrFailAddOutboundTx);
}

}  // namespace blockreplay::keeper::thorchain
