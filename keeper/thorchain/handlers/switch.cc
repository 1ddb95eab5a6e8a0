#include "keeper/thorchain/handlers/switch.h"

#include <string>

#include "keeper/thorchain/errors.h"
#include "keeper/thorchain/handlers/asset_accounts.h"
#include "keeper/thorchain/managers/switch.h"
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

Error ValidateBasic(const Keeper& k, const MsgSwitch& message) {
  return CheckAssetDeposit(k, message, "native assets cannot be switched");
}

Error HandleInternal(Managers& mgr, const Context& ctx, const MsgSwitch& message) {
  const Keeper& k = *mgr.keeper;
  KEEPER_RETURN_IF_ERROR(CheckEnabled(k, ctx, message.asset));
  KEEPER_RETURN_IF_ERROR(ValidateBasic(k, message));
  KEEPER_RETURN_IF_ERROR(MintNative(k, ctx, message));

  // To an address that nobody has the key of.
  return SendOut(mgr, ctx, Coin(message.asset, message.amount), Address(kGaiaZeroAddress),
                 message.tx.id);
}

}  // namespace blockreplay::keeper::thorchain
