#include "keeper/thorchain/handlers/outbound_tx.h"

#include <algorithm>
#include <string>
#include <utility>

#include "keeper/thorchain/handlers/observed_tx_steps.h"
#include "keeper/thorchain/managers/events.h"
#include "keeper/thorchain/managers/gas.h"
#include "keeper/thorchain/managers/slasher.h"
#include "keeper/thorchain/state/clouts.h"
#include "keeper/thorchain/state/last_heights.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/pools.h"
#include "keeper/thorchain/state/tx_outs.h"
#include "keeper/thorchain/state/vaults.h"

namespace blockreplay::keeper::thorchain {
namespace {

// Most gas of a transaction on EVM chains, in units of the gas asset.
constexpr uint64_t kMaxOtherEvmGas = 50'000'000;

Uint MaxEvmGas(const Keeper& k, const Context& ctx, const Chain& chain) {
  const int64_t mimir = GetMimir(k, ctx, sdk::StrCat("MaxGas-", chain.ToString()));
  if (mimir > 0) return Uint(static_cast<uint64_t>(mimir));
  if (chain.raw() == chains::kAVAX.raw()) return Uint(static_cast<uint64_t>(kMaxAvaxGas));
  return Uint(kMaxOtherEvmGas);
}

// Everything but the amount.
bool IsAddressedAs(const TxOutItem& item, const ObservedTx& tx, const TxID& in_tx_id) {
  return item.in_hash == in_tx_id && item.out_hash.IsEmpty() && tx.tx.chain == item.chain &&
         tx.tx.to_address == item.to_address &&
         ToLower(tx.aggregator) == ToLower(item.aggregator) &&
         ToLower(tx.aggregator_target) == ToLower(item.aggregator_target_asset) &&
         (tx.observed_pub_key == item.vault_pub_key ||
          tx.observed_pub_key == item.vault_pub_key_eddsa);
}

class Matcher {
 public:
  Matcher(Managers& mgr, const Context& ctx, const ObservedTx& tx, const Vault& vault)
      : mgr_(mgr), k_(*mgr.keeper), ctx_(ctx), tx_(tx), vault_(vault) {}

  // The item's amount left, with at most the gas that it allows.
  bool Matches(const TxOutItem& item) {
    bool matches = tx_.tx.coins.EqualsEx({item.coin}) || MatchesRounded(item.coin);
    if (!matches && item.coin.asset == item.chain.GetGasAsset()) matches = MatchesWithGas(item);
    if (item.chain.IsEVM()) {
      const Asset& gas_asset = item.chain.GetGasAsset();
      const Uint cap = MaxEvmGas(k_, ctx_, item.chain);
      if (tx_.tx.gas.GetCoin(gas_asset).amount >= cap &&
          item.max_gas.GetCoin(gas_asset).amount < cap) {
        return false;
      }
    }
    return matches;
  }

 private:
  // The chain may count fewer decimals than THORChain.
  bool MatchesRounded(const Coin& coin) {
    auto pool = std::find_if(pools_.begin(), pools_.end(), [&](const auto& known) {
      return IsIdentical(known.first, coin.asset);
    });
    if (pool == pools_.end()) {
      Result<Pool> read = GetPool(k_, ctx_, coin.asset);
      pools_.emplace_back(coin.asset, read.ok() ? *std::move(read) : Pool());
      pool = pools_.end() - 1;
    }
    if (pool->second.asset.IsEmpty()) return false;
    return tx_.tx.coins.EqualsEx(
        {Coin(coin.asset, RoundToDecimals(coin.amount, pool->second.decimals))});
  }

  // Signers may send more if the gas costs less, so the sum has to be right.
  bool MatchesWithGas(const TxOutItem& item) {
    const Asset& asset = item.chain.GetGasAsset();
    const Uint max_gas = item.max_gas.GetCoin(asset).amount;
    const Uint real_gas = tx_.tx.gas.GetCoin(asset).amount;
    if (item.coin.amount + max_gas != tx_.tx.coins.GetCoin(asset).amount + real_gas) return false;
    if (max_gas < real_gas) return false;
    if (max_gas > real_gas && vault_.status != VaultStatus::InactiveVault) {
      AddGasAsset(mgr_, item.coin.asset, {Coin(asset, max_gas - real_gas)}, false);
    }
    return true;
  }

  static bool IsIdentical(const Asset& a, const Asset& b) {
    return a.chain.raw() == b.chain.raw() && a.symbol == b.symbol && a.ticker == b.ticker &&
           a.synth == b.synth && a.trade == b.trade && a.secured == b.secured;
  }

  Managers& mgr_;
  const Keeper& k_;
  const Context& ctx_;
  const ObservedTx& tx_;
  const Vault& vault_;
  std::vector<std::pair<Asset, Pool>> pools_;
};

// Splits spent clout between two that may have it back, as evenly as they can.
std::pair<Uint, Uint> SplitReclaim(const Uint& first, const Uint& second, const Uint& spent) {
  if (spent > first + second) return {first, second};
  const Uint half = spent / Uint(2);
  if (first < half) return {first, spent - first};
  if (second < spent - half) return {spent - second, second};
  return {half, spent - half};
}

// Gives back the clout that the item used, to sender and receiver.
void ReclaimClout(const Keeper& k, const Context& ctx, const TxOutItem& item) {
  if (!item.clout_spent || item.clout_spent->IsZero()) return;
  Result<SwapperClout> out = GetSwapperClout(k, ctx, item.to_address);
  if (!out.ok()) return;
  const Result<ObservedTxVoter> voter = GetObservedTxInVoter(k, ctx, item.in_hash);
  if (!voter.ok()) return;
  Result<SwapperClout> in = GetSwapperClout(k, ctx, voter->tx.tx.from_address);
  if (!in.ok()) return;
  const auto [in_share, out_share] =
      SplitReclaim(ClaimableClout(*in), ClaimableClout(*out), *item.clout_spent);
  ReclaimClout(&*in, in_share);
  in->last_reclaim_height = ctx.height();
  SetSwapperClout(k, ctx, *in);
  // If they are the same record, this one is the last word.
  if (in->address == out->address) ReclaimClout(&*out, in_share);
  ReclaimClout(&*out, out_share);
  out->last_reclaim_height = ctx.height();
  SetSwapperClout(k, ctx, *out);
}

Result<InternalResult> HandleOutbound(Managers& mgr, const Context& ctx, const ObservedTx& tx,
                                      const TxID& in_tx_id) {
  const Keeper& k = *mgr.keeper;
  const Result<Vault> vault = GetVault(k, ctx, tx.observed_pub_key);
  if (!vault.ok()) {
    return Error::Opaque("fail to get vault for observed pubkey", vault.error());
  }
  Result<ObservedTxVoter> voter = GetObservedTxInVoter(k, ctx, in_tx_id);
  if (!voter.ok()) return Error::Opaque("fail to get observed tx voter", voter.error());
  if (AddOutTx(&*voter, tx.tx)) {
    EmitOutboundEvent(ctx, in_tx_id, tx.tx);
  }
  SetObservedTxInVoter(k, ctx, *voter);
  if (tx.tx.chain == chains::kTHOR) return InternalResult{};

  const int64_t earliest =
      std::max(ctx.height() - k.constants().GetInt64(ConstantName::kSigningTransactionPeriod),
               voter->height);
  Matcher matcher(mgr, ctx, tx, *vault);
  bool matched = false;
  for (int64_t height = LatestTxOutHeight(k, ctx); height >= earliest && !matched; --height) {
    Result<TxOut> tx_out = GetTxOut(k, ctx, height);
    if (!tx_out.ok()) return Error(sdk::kErrUnknownRequest, tx_out.error().message());
    for (TxOutItem& item : tx_out->tx_array) {
      if (!IsAddressedAs(item, tx, in_tx_id) || !matcher.Matches(item)) continue;
      item.out_hash = tx.tx.id;
      matched = true;
      SetTxOut(k, ctx, *tx_out);
      ReclaimClout(k, ctx, item);
      break;
    }
  }

  InternalResult result;
  if (!matched && !IsFakeGas(tx) && !IsCancelOrApproval(tx)) {
    EmitSecurityEvent(ctx, tx.tx, "missing tx out in=" + in_tx_id.ToString());
    const Error error = SlashVault(mgr, ctx, tx.observed_pub_key, tx.tx.coins.Add(tx.tx.gas));
    if (error) return Error::Opaque("fail to slash account", error);
    result.vault_slashed = true;
  }
  SetLastSignedHeight(k, ctx, voter->finalised_height);
  return result;
}

Error CheckOutbound(const Keeper& k, const AccAddress& signer, const TxID& in_tx_id,
                    const ObservedTx& tx) {
  if (signer.IsEmpty()) return Error(sdk::kErrInvalidAddress, signer.ToString(k.network()));
  if (in_tx_id.IsEmpty()) return Error(sdk::kErrUnknownRequest, "In Tx ID cannot be empty");
  if (const Error error = CheckObservedTx(tx)) {
    return Error(sdk::kErrUnknownRequest, error.message());
  }
  return {};
}

}  // namespace

Error ValidateBasic(const Keeper& k, const MsgOutboundTx& message) {
  return CheckOutbound(k, message.signer, message.in_tx_id, message.tx);
}

Error ValidateBasic(const Keeper& k, const MsgRefundTx& message) {
  return CheckOutbound(k, message.signer, message.in_tx_id, message.tx);
}

Result<InternalResult> HandleInternal(Managers& mgr, const Context& ctx,
                                      const MsgOutboundTx& message) {
  KEEPER_RETURN_IF_ERROR(ValidateBasic(*mgr.keeper, message));
  return HandleOutbound(mgr, ctx, message.tx, message.in_tx_id);
}

Result<InternalResult> HandleInternal(Managers& mgr, const Context& ctx,
                                      const MsgRefundTx& message) {
  const Keeper& k = *mgr.keeper;
  KEEPER_RETURN_IF_ERROR(ValidateBasic(k, message));
  const Result<ObservedTxVoter> voter = GetObservedTxInVoter(k, ctx, message.in_tx_id);
  if (!voter.ok()) {
    return Error::Opaque("fail to get observed tx voter for duplicate check", voter.error());
  }
  const TxID& id = message.tx.tx.id;
  if (!(id == TxID(kBlankTxID)) && std::any_of(voter->out_txs.begin(), voter->out_txs.end(),
                                               [&](const Tx& known) { return known.id == id; })) {
    return Error(sdk::kErrUnknownRequest, "refund transaction already processed");
  }
  const Result<Vault> vault = GetVault(k, ctx, message.tx.observed_pub_key);
  if (!vault.ok()) return Error::Opaque("fail to get vault", vault.error());
  return HandleOutbound(mgr, ctx, message.tx, message.in_tx_id);
}

}  // namespace blockreplay::keeper::thorchain
