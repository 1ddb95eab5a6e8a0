#include "keeper/thorchain/managers/withdraw_liquidity.h"

#include <algorithm>
#include <string>

#include "keeper/thorchain/managers/gas.h"
#include "keeper/thorchain/managers/liquidity_events.h"
#include "keeper/thorchain/managers/pool_units.h"
#include "keeper/thorchain/managers/swap_math.h"
#include "keeper/thorchain/multi_error.h"
#include "keeper/thorchain/state/funds.h"
#include "keeper/thorchain/state/liquidity_providers.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/pools.h"

namespace blockreplay::keeper::thorchain {
namespace {

Error Check(const Keeper& k, const Context& ctx, const MsgWithdrawLiquidity& message) {
  if (message.withdraw_address.IsEmpty()) return Error::New("empty withdraw address");
  if (message.tx.id.IsEmpty()) return Error::New("request tx hash is empty");
  if (message.asset.IsEmpty()) return Error::New("empty asset");
  if (message.basis_points.IsZero() || message.basis_points > Uint(kMaxBasisPoints)) {
    return Error::New(
        sdk::StrCat("withdraw basis points ", message.basis_points.ToString(), " is invalid"));
  }
  if (!PoolExists(k, ctx, message.asset)) {
    return Error::New(sdk::StrCat("pool-", message.asset.ToString(), " doesn't exist"));
  }
  return {};
}

// What both sides turn into; empty: each stays what it is.
Asset ChooseAsset(const MsgWithdrawLiquidity& message, const LiquidityProvider& provider,
                  int64_t pause_asymmetric) {
  if (provider.rune_address.IsEmpty()) return message.asset;
  if (provider.asset_address.IsEmpty()) return assets::kRune;
  if (pause_asymmetric > 0) return Asset();
  return message.withdrawal_asset;
}

struct Shares {
  Uint rune;
  Uint asset;
  Uint units_after;
};

Shares CalcVaultShares(const Pool& pool, const Uint& units, const Uint& basis_points) {
  if (PoolUnits(pool).IsZero() || units.IsZero() || pool.balance_asset.IsZero()) return {};
  const Uint claimed = GetSafeShare(basis_points, Uint(kMaxBasisPoints), units);
  return {Uint(), GetSafeShare(claimed, PoolUnits(pool), pool.balance_asset),
          SafeSub(units, claimed)};
}

Result<Shares> CalcShares(const Keeper& k, const Context& ctx, const Pool& pool, const Uint& units,
                          const MsgWithdrawLiquidity& message, const Asset& chosen) {
  if (PoolUnits(pool).IsZero() || pool.balance_rune.IsZero() || pool.balance_asset.IsZero()) {
    return Error(kErrWithdrawFail);
  }
  const Uint claimed = GetSafeShare(message.basis_points, Uint(kMaxBasisPoints), units);
  Shares shares;
  shares.units_after = SafeSub(units, claimed);
  shares.rune = GetSafeShare(claimed, PoolUnits(pool), pool.balance_rune);
  shares.asset = GetSafeShare(claimed, PoolUnits(pool), pool.balance_asset);
  if (chosen.IsEmpty()) return shares;

  // One side is swapped to the other.
  const Uint rune_left = SafeSub(pool.balance_rune, shares.rune);
  const Uint asset_left = SafeSub(pool.balance_asset, shares.asset);
  const bool to_rune = chosen.IsRune();
  const Uint& x = to_rune ? shares.asset : shares.rune;
  const Uint& X = to_rune ? asset_left : rune_left;
  const Uint& Y = to_rune ? rune_left : asset_left;
  const Uint slip = CalcSwapSlip(X, x);
  const SwapOutcome swap = CalcSwap(X, x, Y, slip, GetMinSlip(k, ctx, pool.asset, false));
  Uint output = swap.emitted + (to_rune ? shares.rune : shares.asset);
  // The protocol's own liquidity leaves without a fee.
  if (to_rune && message.withdraw_address == ModuleAddress(k, kReserveModule)) {
    output += swap.liquidity_fee;
  }
  shares.rune = to_rune ? output : Uint();
  shares.asset = to_rune ? Uint() : output;
  return shares;
}

// A position that never became one: its coins were waiting for the other side.
Result<Withdrawal> TakePendingBack(const Keeper& k, const Context& ctx, Pool pool,
                                   const LiquidityProvider& provider) {
  if (provider.pending_rune.IsZero() && provider.pending_asset.IsZero()) {
    return Error(kErrNoLiquidityUnitLeft);
  }
  RemoveLiquidityProvider(k, ctx, provider);
  pool.pending_inbound_rune = SafeSub(pool.pending_inbound_rune, provider.pending_rune);
  pool.pending_inbound_asset = SafeSub(pool.pending_inbound_asset, provider.pending_asset);
  // The node goes on if that fails.
  static_cast<void>(SetPool(k, ctx, pool));
  Withdrawal withdrawal;
  withdrawal.rune = provider.pending_rune;
  withdrawal.asset = RoundToDecimals(provider.pending_asset, pool.decimals);
  return withdrawal;
}

void ReduceDepositValue(const Uint& basis_points, Uint* value) {
  *value = SafeSub(*value, GetSafeShare(basis_points, Uint(kMaxBasisPoints), *value));
}

}  // namespace

Result<Withdrawal> Withdraw(Managers& mgr, const Context& ctx,
                            const MsgWithdrawLiquidity& message) {
  const Keeper& k = *mgr.keeper;
  KEEPER_RETURN_IF_ERROR(Check(k, ctx, message));
  KEEPER_ASSIGN_OR_RETURN(Pool pool, GetPool(k, ctx, message.asset));
  CalcUnits(&pool, GetTotalSupply(k, ctx, pool.asset.GetSyntheticAsset()));
  KEEPER_ASSIGN_OR_RETURN(LiquidityProvider provider,
                          GetLiquidityProvider(k, ctx, message.asset, message.withdraw_address));
  const bool to_secured = !message.asset.IsNative() && !provider.asset_address.IsEmpty() &&
                          provider.asset_address == provider.rune_address;
  const Uint units_before = provider.units;
  if (units_before.IsZero()) return TakePendingBack(k, ctx, std::move(pool), provider);

  const int64_t lockup = GetConfigInt64(k, ctx, ConstantName::kLiquidityLockUpBlocks);
  if (ctx.height() < provider.last_add_height + lockup) return Error(kErrWithdrawLockup);
  const Asset chosen =
      ChooseAsset(message, provider,
                  GetMimir(k, ctx, "PauseAsymWithdrawal-" + pool.asset.GetChain().ToString()));
  if (IsAvailable(pool) && provider.rune_deposit_value.IsZero() &&
      provider.asset_deposit_value.IsZero()) {
    provider.rune_deposit_value = GetSafeShare(provider.units, PoolUnits(pool), pool.balance_rune);
    provider.asset_deposit_value =
        GetSafeShare(provider.units, PoolUnits(pool), pool.balance_asset);
  }

  const bool is_vault = pool.asset.IsSynthetic();
  Shares shares;
  if (is_vault) {
    shares = CalcVaultShares(pool, units_before, message.basis_points);
  } else {
    KEEPER_ASSIGN_OR_RETURN(shares, CalcShares(k, ctx, pool, units_before, message, chosen));
    if ((shares.rune == pool.balance_rune) != (shares.asset == pool.balance_asset)) {
      return Error(kErrWithdrawFail);
    }
  }
  Withdrawal withdrawal;
  withdrawal.rune = shares.rune;
  withdrawal.asset = RoundToDecimals(shares.asset, pool.decimals);
  const Uint units_left = SafeSub(PoolUnits(pool), units_before) + shares.units_after;
  if (units_left.IsZero() && !to_secured) {
    const Chain& chain = pool.asset.GetChain();
    const Result<GasDetails> gas = GetGasDetails(k, ctx, chain);
    if (!gas.ok()) return Error(kErrWithdrawFail);
    if (chain.GetGasAsset() == pool.asset) {
      withdrawal.gas_asset = std::min(gas->max_gas.amount, withdrawal.asset);
      withdrawal.asset = SafeSub(withdrawal.asset, withdrawal.gas_asset);
    }
  }

  pool.lp_units = SafeSub(pool.lp_units, SafeSub(units_before, shares.units_after));
  pool.balance_rune = SafeSub(pool.balance_rune, withdrawal.rune);
  pool.balance_asset = SafeSub(pool.balance_asset, withdrawal.asset);
  provider.last_withdraw_height = ctx.height();
  ReduceDepositValue(message.basis_points, &provider.rune_deposit_value);
  ReduceDepositValue(message.basis_points, &provider.asset_deposit_value);
  provider.units = shares.units_after;
  if (shares.units_after >= units_before) {
    return InternalError(
        {}, sdk::StrCat("sanity check: LP units cannot increase during a withdrawal: ",
                        units_before.ToUint64(), " --> ", shares.units_after.ToUint64()));
  }
  if ((pool.balance_asset.IsZero() || pool.balance_rune.IsZero()) && !is_vault) {
    EmitPoolEvent(ctx, pool.asset, PoolStatus::Staged);
    pool.status = PoolStatus::Staged;
  }
  if (Error error = SetPool(k, ctx, pool); error) return InternalError(error, "fail to save pool");
  if (IsRagnarokInProgress(k, ctx) ||
      !(provider.units + provider.pending_asset + provider.pending_rune).IsZero()) {
    SetLiquidityProvider(k, ctx, provider);
  } else {
    RemoveLiquidityProvider(k, ctx, provider);
  }
  withdrawal.units = SafeSub(units_before, shares.units_after);
  return withdrawal;
}

}  // namespace blockreplay::keeper::thorchain
