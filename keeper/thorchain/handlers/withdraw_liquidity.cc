#include "keeper/thorchain/handlers/withdraw_liquidity.h"

#include <algorithm>
#include <string>
#include <utility>

#include "keeper/thorchain/handlers/swap.h"
#include "keeper/thorchain/managers/events.h"
#include "keeper/thorchain/managers/gas.h"
#include "keeper/thorchain/managers/liquidity_events.h"
#include "keeper/thorchain/managers/pool_units.h"
#include "keeper/thorchain/managers/secured_assets.h"
#include "keeper/thorchain/managers/swap_queue.h"
#include "keeper/thorchain/managers/txout.h"
#include "keeper/thorchain/managers/withdraw_liquidity.h"
#include "keeper/thorchain/memo/memo.h"
#include "keeper/thorchain/multi_error.h"
#include "keeper/thorchain/state/funds.h"
#include "keeper/thorchain/state/liquidity_providers.h"
#include "keeper/thorchain/state/lp_pauses.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/pol.h"
#include "keeper/thorchain/state/pools.h"
#include "keeper/thorchain/state/swap_queue.h"

namespace blockreplay::keeper::thorchain {
namespace {

Error UnknownRequest(std::string_view message) { return Error(sdk::kErrUnknownRequest, message); }

Error Validate(const Keeper& k, const Context& ctx, const MsgWithdrawLiquidity& message) {
  if (ValidateBasic(k, message)) return Error(kErrWithdrawFailValidation);
  const Asset& asset = message.asset;
  if (asset.IsSynthetic() && GetConfigInt64(k, ctx, ConstantName::kBurnSynths) > 0) {
    return Error::New("burning synths is disabled, unable to withdraw to savers");
  }
  if (asset.IsDerived()) return Error::New("cannot withdraw from a derived asset virtual pool");
  const Result<Pool> pool = GetPool(k, ctx, asset);
  if (!pool.ok()) {
    return InternalError(pool.error(), sdk::StrCat("fail to get pool(", asset.ToString(), ")"));
  }
  if (Error error = CheckLiquidityStatus(*pool); error) {
    return MultiError(Error(kErrInvalidPoolStatus), error);
  }
  if (!IsAvailable(*pool) && !message.withdrawal_asset.IsEmpty() && !message.tx.id.IsBlank()) {
    return Error::New("cannot specify a withdrawal asset while the pool is not available");
  }
  if (IsChainHalted(k, ctx, asset.chain) || IsLiquidityPaused(k, ctx, asset.chain)) {
    return Error::New("unable to withdraw liquidity while chain is halted or paused LP actions");
  }
  return {};
}

void EmitEvent(const Context& ctx, const MsgWithdrawLiquidity& message,
               const LiquidityProvider& provider, const Withdrawal& withdrawal) {
  if (withdrawal.units.IsZero()) {
    LiquidityEvent event;
    event.pool = message.asset;
    event.rune_address = provider.rune_address;
    event.asset_address = provider.asset_address;
    event.rune = withdrawal.rune;
    event.asset = withdrawal.asset;
    (message.tx.chain == chains::kTHOR ? event.rune_tx : event.asset_tx) = message.tx.id;
    EmitPendingLiquidityEvent(ctx, PendingLiquidityType::withdraw, event);
    return;
  }
  sdk::Event event("withdraw", {{"pool", message.asset.ToString()},
                                {"liquidity_provider_units", withdrawal.units.ToString()},
                                {"basis_points", std::to_string(message.basis_points.ToUint64())},
                                {"asymmetry", "0.000000000000000000"},
                                {"emit_asset", withdrawal.asset.ToString()},
                                {"emit_rune", withdrawal.rune.ToString()}});
  AddTxAttributes(message.tx, &event);
  ctx.events().Emit(std::move(event));
}

Error Send(Managers& mgr, const Context& ctx, const MsgWithdrawLiquidity& message, Coin coin,
           const Address& address, const Uint& gas_asset) {
  const Chain& chain = message.asset.GetChain();
  TxOutItem item;
  item.chain = coin.asset.GetChain();
  item.in_hash = message.tx.id;
  item.to_address = address;
  item.coin = std::move(coin);
  // The node's own withdrawals, when a pool or all of them are closed, have a blank hash.
  if (message.tx.id.IsBlank()) item.memo = RagnarokMemoText(ctx.height());
  if (!gas_asset.IsZero()) {
    if (chain.GetGasAsset() == message.asset) item.max_gas = {Coin(message.asset, gas_asset)};
    const Result<GasDetails> gas = GetGasDetails(*mgr.keeper, ctx, chain);
    if (gas.ok()) item.gas_rate = gas->gas_rate;
  }
  const Result<bool> sent = TryAddTxOutItem(mgr, ctx, std::move(item), Uint());
  if (!sent.ok()) return MultiError(Error(kErrFailAddOutboundTx), sent.error());
  return *sent ? Error() : Error(kErrFailAddOutboundTx);
}

// Savers get what their synthetic asset is worth by a swap.
Error SwapToLayer1(Managers& mgr, const Context& ctx, const MsgWithdrawLiquidity& message,
                   const Coin& coin, const Address& address) {
  const Keeper& k = *mgr.keeper;
  if (HasSwapQueueItem(k, ctx, message.tx.id, 0)) return Error::New("txn hash conflict");
  const Asset target = message.asset.GetLayer1Asset();
  int64_t interval =
      std::max(int64_t{0}, GetConfigInt64(k, ctx, ConstantName::kSaversStreamingSwapsInterval));
  if (GetMimir(k, ctx, "RAGNAROK-" + target.MimirString()) > 0) interval = 0;
  Tx tx = message.tx;
  tx.memo = sdk::StrCat("=:", target.ToString(), ":", address.ToString());
  tx.coins = {coin};
  const MsgSwap swap = MakeMarketSwap(
      k, ctx, tx, target, address, {.interval = static_cast<uint64_t>(interval)}, message.signer);
  KEEPER_RETURN_IF_ERROR(ValidateSwap(mgr, ctx, swap));
  SetSwapQueueItem(k, ctx, swap, 0);
  return {};
}

Error SendRune(Managers& mgr, const Context& ctx, const MsgWithdrawLiquidity& message,
               const LiquidityProvider& provider, const Withdrawal& withdrawal) {
  const Keeper& k = *mgr.keeper;
  KEEPER_RETURN_IF_ERROR(Send(mgr, ctx, message, Coin(assets::kRune, withdrawal.rune),
                              provider.rune_address, withdrawal.gas_asset));
  if (provider.rune_address == ModuleAddress(k, kReserveModule)) {
    KEEPER_ASSIGN_OR_RETURN(ProtocolOwnedLiquidity pol, GetPol(k, ctx));
    pol.rune_withdrawn += withdrawal.rune;
    SetPol(k, ctx, pol);
  }
  return {};
}

// What came with the request: RUNE goes to the reserve, other coins to their pool if there is one.
Error KeepCoins(const Keeper& k, const Context& ctx, const Coins& coins) {
  const Coin rune = coins.GetCoin(assets::kRune);
  if (!rune.IsEmpty()) {
    if (Error error = SendFromModuleToModule(k, ctx, kAsgardModule, kReserveModule,
                                             {Coin(assets::kRune, rune.amount)});
        error) {
      return error.Wrap("KVStore Error: fail to send pool fee to reserve");
    }
  }
  for (const Coin& coin : coins) {
    if (coin.IsEmpty() || coin.IsRune()) continue;
    Result<Pool> pool = GetPool(k, ctx, coin.asset);
    if (!pool.ok()) return InternalError(pool.error(), "fail to get pool");
    if (IsEmpty(*pool)) continue;
    pool->balance_asset += coin.amount;
    if (Error error = SetPool(k, ctx, *pool); error) {
      return InternalError(error, "fail to save pool to key value store");
    }
  }
  return {};
}

}  // namespace

Error ValidateBasic(const Keeper&, const MsgWithdrawLiquidity& m) {
  if (m.signer.IsEmpty()) return Error(sdk::kErrInvalidAddress, "");
  if (m.tx.id.IsEmpty()) return Error(sdk::kErrInvalidAddress, "tx id cannot be empty");
  if (m.asset.IsEmpty()) return UnknownRequest("pool asset cannot be empty");
  if (m.asset.IsRune()) return UnknownRequest("asset cannot be rune");
  if (m.withdraw_address.IsEmpty()) return UnknownRequest("address cannot be empty");
  if (m.basis_points.IsZero()) return UnknownRequest("basis points can't be zero");
  if (m.basis_points > Uint(kMaxBasisPoints)) {
    return UnknownRequest("basis points is larger than maximum withdraw basis points");
  }
  if (!m.withdrawal_asset.IsEmpty() && !m.withdrawal_asset.IsRune() &&
      !(m.withdrawal_asset == m.asset)) {
    return UnknownRequest("withdrawal asset must be empty, rune, or pool asset");
  }
  return {};
}

Error HandleInternal(Managers& mgr, const Context& ctx, const MsgWithdrawLiquidity& message) {
  const Keeper& k = *mgr.keeper;
  KEEPER_RETURN_IF_ERROR(Validate(k, ctx, message));
  const Asset& asset = message.asset;
  const Result<LiquidityProvider> read =
      GetLiquidityProvider(k, ctx, asset, message.withdraw_address);
  if (!read.ok()) return MultiError(Error(kErrFailGetLiquidityProvider), read.error());
  const LiquidityProvider& provider = *read;
  const bool to_secured = !asset.IsNative() && provider.asset_address.IsChain(chains::kTHOR);
  const Result<Withdrawal> withdrawal = Withdraw(mgr, ctx, message);
  if (!withdrawal.ok()) {
    return InternalError(withdrawal.error(), "fail to process withdraw request");
  }
  if (to_secured) {
    if (!message.withdrawal_asset.IsEmpty()) {
      return Error::New("single sided withdrawal not supported for secured assets");
    }
    if (!withdrawal->asset.IsZero()) {
      const absl::StatusOr<AccAddress> owner = provider.asset_address.ToAccAddress(k.network());
      if (!owner.ok()) return Error::New(std::string(owner.status().message()));
      const Result<Coin> deposited = DepositSecuredAsset(k, ctx, asset, withdrawal->asset, *owner,
                                                         provider.asset_address, message.tx.id);
      if (!deposited.ok()) return deposited.error();
    }
  }
  EmitEvent(ctx, message, provider, *withdrawal);

  if (!withdrawal->asset.IsZero() && !to_secured) {
    const Coin coin(asset, withdrawal->asset);
    if (!asset.IsRune() && !provider.asset_address.IsChain(asset.GetChain())) {
      KEEPER_RETURN_IF_ERROR(SwapToLayer1(mgr, ctx, message, coin, provider.asset_address));
    } else {
      KEEPER_RETURN_IF_ERROR(
          Send(mgr, ctx, message, coin, provider.asset_address, withdrawal->gas_asset));
    }
  }
  if (!withdrawal->rune.IsZero()) {
    KEEPER_RETURN_IF_ERROR(SendRune(mgr, ctx, message, provider, *withdrawal));
  }
  return KeepCoins(k, ctx, message.tx.coins);
}

}  // namespace blockreplay::keeper::thorchain
