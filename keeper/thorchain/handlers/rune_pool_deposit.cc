#include "keeper/thorchain/handlers/rune_pool_deposit.h"

#include "keeper/thorchain/managers/rune_pool.h"
#include "keeper/thorchain/state/funds.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/pub_keys.h"
#include "keeper/thorchain/state/rune_pool.h"

namespace blockreplay::keeper::thorchain {
namespace {

Error Validate(const Keeper& k, const Context& ctx, const MsgRunePoolDeposit& message) {
  KEEPER_RETURN_IF_ERROR(ValidateBasic(k, message));
  if (GetConfigInt64(k, ctx, ConstantName::kRUNEPoolEnabled) <= 0) {
    return Error::New("RUNEPool disabled");
  }
  const int64_t halt = GetConfigInt64(k, ctx, ConstantName::kRUNEPoolHaltDeposit);
  if (halt > 0 && ctx.height() >= halt) return Error::New("RUNEPool deposit paused");
  return {};
}

}  // namespace

Error ValidateBasic(const Keeper&, const MsgRunePoolDeposit& m) {
  if (!(m.tx.chain == chains::kTHOR)) {
    return Error(sdk::kErrUnauthorized, "chain must be THORChain");
  }
  if (m.tx.coins.size() != 1) {
    return Error(sdk::kErrInvalidCoins, "coins must be length 1 (RUNE)");
  }
  const Coin& coin = m.tx.coins[0];
  if (!coin.asset.chain.IsTHORChain()) {
    return Error(sdk::kErrInvalidCoins, "coin chain must be THORChain");
  }
  if (!coin.IsRune()) return Error(sdk::kErrInvalidCoins, "coin must be RUNE");
  if (m.signer.IsEmpty()) return Error(sdk::kErrInvalidAddress, "signer must not be empty");
  if (coin.amount.IsZero()) {
    return Error(sdk::kErrUnknownRequest, "coins amount must not be zero");
  }
  return {};
}

Error HandleInternal(Managers& mgr, const Context& ctx, const MsgRunePoolDeposit& message) {
  const Keeper& k = *mgr.keeper;
  KEEPER_RETURN_IF_ERROR(Validate(k, ctx, message));
  const Coin& coin = message.tx.coins[0];

  const Result<Uint> value = RunePoolValue(k, ctx);
  if (!value.ok()) {
    return Error::New(sdk::StrCat("fail to get rune pool value: ", value.error().message()));
  }
  if (Error error = SendFromModuleToModule(k, ctx, kAsgardModule, kRunePoolModule, {coin}); error) {
    return Error::New(sdk::StrCat("unable to SendFromModuleToModule: ", error.message()));
  }
  Result<RUNEProvider> provider = GetRuneProvider(k, ctx, message.signer);
  if (!provider.ok()) {
    return Error::New(sdk::StrCat("unable to GetRUNEProvider: ", provider.error().message()));
  }
  provider->last_deposit_height = ctx.height();
  provider->deposit_amount += coin.amount;
  Result<RUNEPool> pool = GetRunePool(k, ctx);
  if (!pool.ok()) {
    return Error::New(sdk::StrCat("fail to get rune pool: ", pool.error().message()));
  }
  const Uint total = TotalUnits(*pool);
  const Uint units = total.IsZero() ? coin.amount : GetUncappedShare(coin.amount, *value, total);
  if (units.IsZero()) return Error::New("deposit would result in zero units");
  provider->units += units;
  SetRuneProvider(k, ctx, *provider);
  pool->pool_units += units;
  pool->rune_deposited += coin.amount;
  SetRunePool(k, ctx, *pool);

  if (Error error = ReserveExitRunePool(k, ctx); error) {
    return Error::Opaque("fail to exit reserve rune pool", error);
  }
  ctx.events().Emit(
      sdk::Event("rune_pool_deposit", {{"rune_address", ToText(k, provider->rune_address)},
                                       {"rune_amount", coin.amount.ToString()},
                                       {"units", units.ToString()},
                                       {"tx_id", message.tx.id.ToString()}}));
  return {};
}

}  // namespace blockreplay::keeper::thorchain
