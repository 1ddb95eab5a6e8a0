#include "keeper/thorchain/handlers/rune_pool_withdraw.h"

#include <string>

#include "keeper/sdk/int.h"
#include "keeper/thorchain/managers/rune_pool.h"
#include "keeper/thorchain/state/funds.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/pol.h"
#include "keeper/thorchain/state/pub_keys.h"
#include "keeper/thorchain/state/rune_pool.h"

namespace blockreplay::keeper::thorchain {
namespace {

sdk::Int ToInt(const Uint& value) { return sdk::Int::FromLimbs(value.limbs()); }

Error Validate(const Keeper& k, const Context& ctx, const MsgRunePoolWithdraw& message) {
  KEEPER_RETURN_IF_ERROR(ValidateBasic(k, message));
  if (GetConfigInt64(k, ctx, ConstantName::kRUNEPoolEnabled) <= 0) {
    return Error::New("RUNEPool disabled");
  }
  const int64_t halt = GetConfigInt64(k, ctx, ConstantName::kRUNEPoolHaltWithdraw);
  if (halt > 0 && ctx.height() >= halt) return Error::New("RUNEPool withdraw paused");
  const int64_t max_fee = GetConfigInt64(k, ctx, ConstantName::kMaxAffiliateFeeBasisPoints);
  if (message.affiliate_basis_points > Uint(static_cast<uint64_t>(max_fee))) {
    return Error::New(sdk::StrCat("invalid affiliate basis points, max: ", max_fee,
                                  ", request: ", message.affiliate_basis_points.ToUint64()));
  }
  return {};
}

// The affiliate's part of what the withdrawn units earned. Of all that the provider's RUNE ever
// became, the share above its deposits is profit.
Uint AffiliateAmount(const MsgRunePoolWithdraw& message, const RUNEProvider& provider,
                     const Uint& total_units, const Uint& total_value) {
  if (message.affiliate_basis_points.IsZero()) return Uint();
  const Uint value = GetSafeShare(provider.units, total_units, total_value);
  const Uint withdrawn = GetSafeShare(message.basis_points, kMaxBasisPoints, value);
  const Uint all = value + provider.withdraw_amount;
  const Uint profit = SafeSub(all, provider.deposit_amount);
  return GetSafeShare(message.affiliate_basis_points, kMaxBasisPoints,
                      GetSafeShare(profit, all, withdrawn));
}

// The reserve buys as many units as the module lacks RUNE, up to its limit.
Error BuyUnits(const Keeper& k, const Context& ctx, const RUNEPool& pool, const Uint& pending,
               const Uint& rune) {
  const sdk::Int backstop(GetConfigInt64(k, ctx, ConstantName::kRUNEPoolMaxReserveBackstop));
  const sdk::Int limit =
      backstop + sdk::Int(GetConfigInt64(k, ctx, ConstantName::kPOLMaxNetworkDeposit));
  const Result<ProtocolOwnedLiquidity> pol = GetPol(k, ctx);
  if (!pol.ok()) return Error::Opaque("fail to get POL", pol.error());
  const sdk::Int pol_deposit = ToInt(pol->rune_deposited) - ToInt(pol->rune_withdrawn);
  const sdk::Int pool_deposit = ToInt(pool.rune_deposited) - ToInt(pool.rune_withdrawn);
  if (pol_deposit - pool_deposit + ToInt(pending) + ToInt(rune) > limit) {
    return Error::New(sdk::StrCat("reserve enter ", rune.ToUint64(), " rune exceeds backstop"));
  }
  if (Error error = ReserveEnterRunePool(k, ctx, rune); error) {
    return Error::Opaque("fail to reserve enter rune pool", error);
  }
  return {};
}

}  // namespace

Error ValidateBasic(const Keeper&, const MsgRunePoolWithdraw& m) {
  if (!m.tx.coins.IsEmpty()) {
    return Error(sdk::kErrInvalidCoins, "coins must be empty (zero amount)");
  }
  if (m.signer.IsEmpty()) return Error(sdk::kErrInvalidAddress, "signer must not be empty");
  if (m.basis_points.IsZero() || m.basis_points > Uint(kMaxBasisPoints)) {
    return Error(sdk::kErrUnknownRequest, "invalid basis points");
  }
  if (m.affiliate_basis_points > Uint(kMaxBasisPoints)) {
    return Error(sdk::kErrUnknownRequest, "invalid affiliate basis points");
  }
  if (!m.affiliate_basis_points.IsZero() && m.affiliate_address.IsEmpty()) {
    return Error(sdk::kErrInvalidAddress, "affiliate basis points with no affiliate address");
  }
  return {};
}

Error HandleInternal(Managers& mgr, const Context& ctx, const MsgRunePoolWithdraw& message) {
  const Keeper& k = *mgr.keeper;
  KEEPER_RETURN_IF_ERROR(Validate(k, ctx, message));

  Result<RUNEProvider> provider = GetRuneProvider(k, ctx, message.signer);
  if (!provider.ok()) {
    return Error::New(sdk::StrCat("unable to GetRUNEProvider: ", provider.error().message()));
  }
  const int64_t maturity = GetConfigInt64(k, ctx, ConstantName::kRUNEPoolDepositMaturityBlocks);
  const int64_t age = ctx.height() - provider->last_deposit_height;
  if (age < maturity) {
    return Error::New(sdk::StrCat("deposit reaches maturity in ", maturity - age, " blocks"));
  }
  Result<RUNEPool> pool = GetRunePool(k, ctx);
  if (!pool.ok()) {
    return Error::New(sdk::StrCat("fail to get rune pool: ", pool.error().message()));
  }
  const Uint units = GetSafeShare(message.basis_points, kMaxBasisPoints, provider->units);
  const Result<Uint> value = RunePoolValue(k, ctx);
  if (!value.ok()) return Error::Opaque("fail to get rune pool value", value.error());
  const Uint affiliate_amount = AffiliateAmount(message, *provider, TotalUnits(*pool), *value);
  const Uint amount = GetSafeShare(units, TotalUnits(*pool), *value);
  if (const Uint pending = GetRuneBalanceOfModule(k, ctx, kRunePoolModule); amount > pending) {
    KEEPER_RETURN_IF_ERROR(BuyUnits(k, ctx, *pool, pending, SafeSub(amount, pending)));
    pool = GetRunePool(k, ctx);
    if (!pool.ok()) return Error::Opaque("fail to get rune pool", pool.error());
  }

  provider->units = SafeSub(provider->units, units);
  provider->withdraw_amount += amount;
  provider->last_withdraw_height = ctx.height();
  SetRuneProvider(k, ctx, *provider);
  pool->pool_units = SafeSub(pool->pool_units, units);
  pool->rune_withdrawn += amount;
  SetRunePool(k, ctx, *pool);

  if (!affiliate_amount.IsZero()) {
    const auto affiliate = message.affiliate_address.ToAccAddress(k.network());
    if (!affiliate.ok()) {
      return Error::New(sdk::StrCat("fail to get affiliate address: ",
                                    std::string(affiliate.status().message())));
    }
    if (Error error = SendFromModuleToAccount(k, ctx, kRunePoolModule, *affiliate,
                                              {Coin(assets::kRune, affiliate_amount)});
        error) {
      return Error::Opaque("fail to send affiliate fee", error);
    }
  }
  if (Error error =
          SendFromModuleToAccount(k, ctx, kRunePoolModule, message.signer,
                                  {Coin(assets::kRune, SafeSub(amount, affiliate_amount))});
      error) {
    return Error::Opaque("fail to send user withdraw", error);
  }
  ctx.events().Emit(sdk::Event(
      "rune_pool_withdraw", {{"rune_address", ToText(k, provider->rune_address)},
                             {"basis_points", message.basis_points.ToString()},
                             {"rune_amount", amount.ToString()},
                             {"units", units.ToString()},
                             {"tx_id", message.tx.id.ToString()},
                             {"affiliate_address", message.affiliate_address.ToString()},
                             {"affiliate_basis_points", message.affiliate_basis_points.ToString()},
                             {"affiliate_amount", affiliate_amount.ToString()}}));
  return {};
}

}  // namespace blockreplay::keeper::thorchain
