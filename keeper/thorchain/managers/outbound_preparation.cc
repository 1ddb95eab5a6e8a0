#include "keeper/thorchain/managers/outbound_preparation.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "keeper/thorchain/handlers/memo_to_message.h"
#include "keeper/thorchain/managers/events.h"
#include "keeper/thorchain/managers/gas.h"
#include "keeper/thorchain/managers/outbound_vaults.h"
#include "keeper/thorchain/modules.h"
#include "keeper/thorchain/state/funds.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/observed_txs.h"
#include "keeper/thorchain/state/pools.h"

namespace blockreplay::keeper::thorchain {
namespace {

// What follows a `|` in the inbound's memo goes out with the outbound.
void AppendPassthrough(const Keeper& k, const Context& ctx, TxOutItem* item) {
  const Result<ObservedTxVoter> voter = GetObservedTxInVoter(k, ctx, item->in_hash);
  if (!voter.ok()) return;
  const std::string& memo = voter->tx.tx.memo;
  const size_t bar = memo.find('|');
  if (bar == std::string::npos) return;
  item->memo.append(memo, bar);
  const auto limit = static_cast<size_t>(item->chain.MaxMemoLength());
  if (item->memo.size() > limit) item->memo.resize(limit);
}

// Where EnableMemolessOutbound is on, plain outbounds and refunds go out without a memo.
void ApplyMemoless(const Keeper& k, bool enabled, TxOutItem* item) {
  if (item->original_memo.empty()) item->original_memo = item->memo;
  item->memo = item->original_memo;
  if (!enabled) return;
  const MemoResult parsed = ParseMemoWithoutState(item->original_memo, k.network());
  if (parsed.ok() && item->aggregator.empty() &&
      item->original_memo.find('|') == std::string::npos && IsOutboundMemoless(parsed.memo.type)) {
    item->memo.clear();
  }
}

Error CheckRecipient(const Keeper& k, TxOutItem* item) {
  if (item->to_address.IsEmpty()) return Error::New("empty to address, can't send out");
  if (!item->to_address.IsChain(item->chain)) {
    return Error::New(sdk::StrCat("to address(", item->to_address.ToString(), "), is not of chain(",
                                  item->chain.ToString(), ")"));
  }
  return UseNewBchAddress(k, item);
}

// An outbound with a fee that takes all of it is an error for those who withdraw liquidity, so that
// they keep it; others lose the outbound.
Error CheckNotWithdrawal(const Keeper& k, const Context& ctx, const TxOutItem& item) {
  if (item.in_hash.IsEmpty() || item.in_hash.IsBlank()) return {};
  const Result<ObservedTxVoter> voter = GetObservedTxInVoter(k, ctx, item.in_hash);
  if (!voter.ok() || IsEmpty(voter->tx)) return {};
  const MemoResult memo = ParseMemoWithNames(k, ctx, voter->tx.tx.memo);
  if (memo.ok() && memo.memo.type == TxType::kWithdraw) {
    return Error::New("tx out item has zero coin");
  }
  return {};
}

class Preparation {
 public:
  Preparation(const Keeper& k, const Context& ctx, TxOutItem item)
      : k_(k), ctx_(ctx), item_(std::move(item)) {}

  Result<PreparedOutbounds> Run() {
    KEEPER_RETURN_IF_ERROR(Complete());
    KEEPER_RETURN_IF_ERROR(ReadCosts());
    TxOutItems candidates{item_};
    if (!item_.chain.IsTHORChain() && item_.vault_pub_key.IsEmpty()) {
      KEEPER_ASSIGN_OR_RETURN(candidates,
                              ChooseVaults(k_, ctx_, outbound_fee_, gas_.max_gas, item_));
    }
    for (TxOutItem& output : candidates) {
      KEEPER_ASSIGN_OR_RETURN(const bool keep, Deduct(&output));
      if (!keep) continue;
      KEEPER_RETURN_IF_ERROR(Record(&output));
      prepared_.items.push_back(std::move(output));
    }
    if (!IsEmpty(pool_)) {
      if (Error error = SetPool(k_, ctx_, pool_); error) {
        return Error::Opaque("fail to save pool", error);
      }
    }
    for (const Fee& fee : fees_) EmitFeeEvent(ctx_, item_.in_hash, fee);
    KEEPER_RETURN_IF_ERROR(SendFeeToReserve());
    return std::move(prepared_);
  }

 private:
  Error Complete() {
    if (item_.memo.empty()) item_.memo = OutboundMemoText(item_.in_hash);
    if (item_.in_hash.IsEmpty()) {
      item_.in_hash = TxID(kBlankTxID);
    } else {
      AppendPassthrough(k_, ctx_, &item_);
    }
    ApplyMemoless(k_, GetConfigInt64(k_, ctx_, ConstantName::kEnableMemolessOutbound) > 0, &item_);
    return CheckRecipient(k_, &item_);
  }

  Error ReadCosts() {
    Result<Pool> pool = GetPool(k_, ctx_, item_.coin.asset.GetLayer1Asset());
    if (!pool.ok()) return Error::Opaque("fail to get pool for txout manager", pool.error());
    pool_ = *std::move(pool);
    Result<Uint> fee = GetAssetOutboundFee(k_, ctx_, item_.coin.asset, /*in_rune=*/false);
    if (!fee.ok()) return Error::Opaque("fail to get outbound fee", fee.error());
    outbound_fee_ = *fee;
    Result<GasDetails> gas = GetGasDetails(k_, ctx_, item_.chain);
    if (!gas.ok()) return Error::Opaque("fail to get max gas details", gas.error());
    gas_ = *std::move(gas);
    return {};
  }

  // Takes the fee, or the gas. False if nothing is left.
  Result<bool> Deduct(TxOutItem* output) {
    if (output->max_gas.IsEmpty()) {
      output->max_gas = {gas_.max_gas};
      if (output->max_gas.IsEmpty() && !(output->chain == chains::kTHOR)) {
        // The brackets that Go prints around a list without text of its own.
        return Error::New(
            sdk::StrCat("max gas cannot be empty: [", output->max_gas.ToString(), "]"));
      }
      output->gas_rate = gas_.gas_rate;
    }
    const MemoResult memo = ParseMemoWithNames(k_, ctx_, GetMemo(*output));
    bool takes_fee = memo.ok() && memo.memo.type != TxType::kRagnarok;
    if (!output->chain.IsTHORChain()) {
      const Result<Vault> vault = GetVault(k_, ctx_, output->vault_pub_key);
      if (!vault.ok() || vault->status == VaultStatus::InactiveVault) takes_fee = false;
      if (!takes_fee && output->coin.asset.IsGasAsset()) {
        output->coin.amount =
            SafeSub(output->coin.amount, output->max_gas.GetCoin(output->coin.asset).amount);
      }
    }
    if (takes_fee && memo.memo.type != TxType::kMigrate &&
        !(item_.to_address == ModuleAddress(k_, kLendingModule))) {
      if (output->coin.asset.IsRune()) {
        TakeRuneFee(output);
      } else if (!PoolUnits(pool_).IsZero()) {
        KEEPER_ASSIGN_OR_RETURN(const bool keep, TakeAssetFee(output));
        if (!keep) return false;
      }
    }
    if (output->coin.IsEmpty()) {
      KEEPER_RETURN_IF_ERROR(CheckNotWithdrawal(k_, ctx_, *output));
      return false;
    }
    return true;
  }

  void TakeRuneFee(TxOutItem* output) {
    const Uint fee = std::min(outbound_fee_, output->coin.amount);
    prepared_.fee_rune += fee;
    output->coin.amount -= fee;
    fees_.push_back(Fee{{Coin(output->coin.asset, fee)}, Uint()});
  }

  // By way of the pool. False if nothing is left.
  Result<bool> TakeAssetFee(TxOutItem* output) {
    const Asset& asset = output->coin.asset;
    const Uint fee = std::min(outbound_fee_, output->coin.amount);
    const Uint rest = output->coin.amount - fee;
    if (asset.IsGasAsset() && rest < item_.chain.DustThreshold()) return false;
    if (rest.IsZero()) {
      KEEPER_RETURN_IF_ERROR(CheckNotWithdrawal(k_, ctx_, *output));
      return false;
    }
    output->coin.amount = rest;
    if ((asset.IsSynthetic() || asset.IsDerived()) && GetModuleName(*output) == kAsgardModule &&
        !fee.IsZero()) {
      KEEPER_RETURN_IF_ERROR(BurnFee(Coin(asset, fee)));
    }
    const Uint rune = std::min(RuneDisbursementForAssetAdd(pool_, fee), pool_.balance_rune);
    prepared_.fee_rune += rune;
    if (!asset.IsSynthetic()) pool_.balance_asset += fee;
    pool_.balance_rune -= rune;
    fees_.push_back(Fee{{Coin(asset, fee)}, rune});
    return true;
  }

  Error BurnFee(const Coin& fee) {
    if (Error error = SendFromModuleToModule(k_, ctx_, kAsgardModule, kThorchainModule, {fee});
        error) {
      return Error::Opaque("fail to move native asset fee from asgard to Module", error);
    }
    if (Error error = BurnFromModule(k_, ctx_, kThorchainModule, fee); error) {
      return Error::Opaque("fail to burn native asset", error);
    }
    EmitMintBurnEvent(ctx_, MintBurnSupplyType::burn, fee, "burn_native_fee");
    return {};
  }

  // Rounds the amount, and notes the item with its inbound.
  Error Record(TxOutItem* output) {
    if (!output->coin.asset.IsSynthetic()) {
      output->coin.amount = RoundToDecimals(output->coin.amount, pool_.decimals);
    }
    if (output->in_hash.IsBlank()) return {};
    Result<ObservedTxVoter> voter = GetObservedTxInVoter(k_, ctx_, output->in_hash);
    if (!voter.ok()) return Error::Opaque("fail to get observed tx voter", voter.error());
    voter->finalised_height = ctx_.height();
    voter->actions.push_back(*output);
    SetObservedTxInVoter(k_, ctx_, *voter);
    return {};
  }

  Error SendFeeToReserve() {
    if (prepared_.fee_rune.IsZero()) return {};
    const std::string_view source = GetModuleName(item_);
    if (source == kReserveModule) return {};
    if (!item_.coin.IsRune() && item_.coin.asset.IsDerived()) return {};
    if (Error error = SendFromModuleToModule(k_, ctx_, source, kReserveModule,
                                             {Coin(assets::kRune, prepared_.fee_rune)});
        error) {
      return Error::Opaque("fail to send fee to reserve", error);
    }
    return {};
  }

  const Keeper& k_;
  const Context& ctx_;
  TxOutItem item_;
  // Of the item's layer-1 asset, with the fees taken so far.
  Pool pool_;
  // What each item costs.
  Uint outbound_fee_;
  GasDetails gas_;
  std::vector<Fee> fees_;
  PreparedOutbounds prepared_;
};

}  // namespace

Result<PreparedOutbounds> PrepareOutbounds(const Keeper& k, const Context& ctx, TxOutItem item) {
  return Preparation(k, ctx, std::move(item)).Run();
}

Error UseNewBchAddress(const Keeper& k, TxOutItem* item) {
  if (!(item->chain == chains::kBCH)) return {};
  absl::StatusOr<Address> address = item->to_address.ToNewBCHFormat(k.network());
  if (!address.ok()) {
    return Error::Opaque("fail to convert BCH address to new format",
                         Error::New(std::string(address.status().message())));
  }
  if (address->IsEmpty()) return Error::New("empty to address , can't send out");
  item->to_address = *std::move(address);
  return {};
}

}  // namespace blockreplay::keeper::thorchain
