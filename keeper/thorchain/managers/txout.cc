#include "keeper/thorchain/managers/txout.h"

#include <algorithm>
#include <string>
#include <utility>

#include "keeper/thorchain/handlers/memo_to_message.h"
#include "keeper/thorchain/managers/affiliates.h"
#include "keeper/thorchain/managers/events.h"
#include "keeper/thorchain/managers/outbound_delay.h"
#include "keeper/thorchain/managers/outbound_preparation.h"
#include "keeper/thorchain/managers/secured_assets.h"
#include "keeper/thorchain/managers/trade_accounts.h"
#include "keeper/thorchain/modules.h"
#include "keeper/thorchain/multi_error.h"
#include "keeper/thorchain/state/funds.h"
#include "keeper/thorchain/state/node_accounts.h"
#include "keeper/thorchain/state/observed_txs.h"
#include "keeper/thorchain/state/outbound_fees.h"
#include "keeper/thorchain/state/vaults.h"

namespace blockreplay::keeper::thorchain {
namespace {

constexpr std::string_view kRefundMemo = "REFUND";
constexpr std::string_view kMigrateMemo = "MIGRATE";
constexpr std::string_view kPreferredAssetSwapMemo = "THOR-PREFERRED-ASSET";

// What is left of the item's amount after the affiliates of the inbound's swap got their share.
Result<Uint> TakeAffiliateFee(Managers& mgr, const Context& ctx, const TxOutItem& item) {
  const Keeper& k = *mgr.keeper;
  const Uint& amount = item.coin.amount;
  if (item.memo.starts_with(kRefundMemo) || item.memo.starts_with(kMigrateMemo)) return amount;
  const Result<ObservedTxVoter> voter = GetObservedTxInVoter(k, ctx, item.in_hash);
  if (!voter.ok()) return amount;
  const Tx& inbound = voter->tx.tx;
  if (inbound.memo.empty() || inbound.memo.starts_with(kPreferredAssetSwapMemo)) return amount;
  const MemoResult parsed = ParseMemoWithNames(k, ctx, inbound.memo);
  if (!parsed.ok()) {
    return Error::Opaque("fail to parse memo", Error::New(std::string(parsed.status.message())));
  }
  // RUNE of a swap to something else is itself the share of an affiliate.
  if (item.coin.asset.IsRune() && !parsed.memo.asset.IsRune()) return amount;
  const SwapMemo* swap = parsed.memo.As<SwapMemo>();
  if (swap == nullptr || parsed.memo.type != TxType::kSwap ||
      swap->affiliates_basis_points.empty()) {
    return amount;
  }

  Tx tx;
  tx.id = item.in_hash;
  tx.chain = item.chain;
  tx.from_address = inbound.from_address;
  tx.to_address = item.to_address;
  tx.coins = {item.coin};
  tx.gas = {Coin(item.chain.GetGasAsset(), Uint(1))};
  tx.memo = inbound.memo;
  KEEPER_ASSIGN_OR_RETURN(const NodeAccounts nodes, ListActiveValidators(k, ctx));
  if (nodes.empty()) return Error::New("dev err: no active node accounts");
  const Result<Uint> fee =
      SkimAffiliateFees(mgr, ctx, tx, nodes.front()->node_address, item.coin, inbound.memo);
  return fee.ok() ? SafeSub(amount, *fee) : amount;
}

// Moves what the outbound is about to the recipient.
Error SendNative(const Keeper& k, const Context& ctx, const TxOutItem& item,
                 const AccAddress& recipient) {
  const std::string_view source = GetModuleName(item);
  const Asset& asset = item.coin.asset;
  if (asset.IsTrade()) {
    const Result<Uint> deposited =
        DepositToTradeAccount(k, ctx, asset, item.coin.amount, recipient, Address(), item.in_hash);
    if (deposited.ok()) return {};
    return InternalError(deposited.error(), "fail to deposit to trade account");
  }
  if (asset.IsSecured()) {
    const Result<Coin> deposited = DepositSecuredAsset(
        k, ctx, asset.GetLayer1Asset(), item.coin.amount, recipient, Address(), item.in_hash);
    if (deposited.ok()) return {};
    return InternalError(deposited.error(), "fail to deposit secured asset");
  }
  for (const std::string_view module :
       {kReserveModule, kAffiliateCollectorModule, kTcyClaimingModule}) {
    if (item.to_address == ModuleAddress(k, module)) {
      return SendFromModuleToModule(k, ctx, source, module, {item.coin});
    }
  }
  return SendFromModuleToAccount(k, ctx, source, recipient, {item.coin});
}

// Native assets go out at once, and count as observed.
Error NativeTxOut(Managers& mgr, const Context& ctx, const TxOutItem& item) {
  const Keeper& k = *mgr.keeper;
  absl::StatusOr<AccAddress> recipient = item.to_address.ToAccAddress(k.network());
  if (!recipient.ok()) return Error::New(std::string(recipient.status().message()));
  const std::string_view source = GetModuleName(item);
  if (source == kThorchainModule) {
    if (Error error = MintToModule(k, ctx, source, item.coin); error) {
      return Error::Opaque("fail to mint coins during txout", error);
    }
    EmitMintBurnEvent(ctx, MintBurnSupplyType::mint, item.coin, "native_tx_out");
  }
  KEEPER_RETURN_IF_ERROR(SendNative(k, ctx, item, *recipient));

  const Uint fee = GetOutboundTxFee(k, ctx);
  KEEPER_ASSIGN_OR_RETURN(const Vaults active,
                          GetAsgardVaultsByStatus(k, ctx, VaultStatus::ActiveVault));
  if (active.empty()) return Error::New("dev error: no pubkey for native txn");
  ObservedTx observed;
  observed.tx = Tx::Make(TxID(kBlankTxID), ModuleAddress(k, source), item.to_address, {item.coin},
                         {Coin(assets::kRune, fee)}, GetMemo(item));
  observed.observed_pub_key = active.front().pub_key;
  observed.block_height = ctx.height();
  observed.finalise_height = ctx.height();
  KEEPER_ASSIGN_OR_RETURN(const InternalMessage message,
                          ProcessOneTxIn(k, ctx, observed, ModuleAccAddress(k, kAsgardModule)));
  return HandleInternalMessage(mgr, ctx, message).error();
}

Error AddToBlockOut(Managers& mgr, const Context& ctx, TxOutItem item, int64_t height) {
  if (item.chain.IsTHORChain()) return NativeTxOut(mgr, ctx, item);
  const Keeper& k = *mgr.keeper;
  if (!item.aggregator_target_limit) item.aggregator_target_limit = Uint();
  if (!item.clout_spent) item.clout_spent = Uint();
  // Only for the node's telemetry, but it takes gas.
  (void)GetVault(k, ctx, item.vault_pub_key);
  EmitScheduledOutboundEvent(ctx, item);
  return AppendTxOut(k, ctx, height, item);
}

// When the items may leave; noted in the inbound's record.
Result<OutboundDelay> Schedule(const Keeper& k, const Context& ctx, const TxID& in_hash,
                               const TxOutItem& first) {
  Result<ObservedTxVoter> voter = GetObservedTxInVoter(k, ctx, in_hash);
  if (!voter.ok()) {
    return Error::New("fail to get observe tx in voter,err:" + voter.error().message());
  }
  OutboundDelay delay = CalcTxOutHeight(k, ctx, first);
  // The time that a streaming swap took counts.
  if (voter->height > 0) delay.height += voter->height - ctx.height();
  delay.height = std::max(delay.height, ctx.height());
  if (delay.height > voter->outbound_height) {
    voter->outbound_height = delay.height;
    SetObservedTxInVoter(k, ctx, *voter);
  }
  return delay;
}

Error TryAdd(Managers& mgr, const Context& ctx, const TxOutItem& item, const Uint& min_out) {
  const Keeper& k = *mgr.keeper;
  Result<PreparedOutbounds> prepared = PrepareOutbounds(k, ctx, item);
  if (!prepared.ok()) return Error::Opaque("failed to prepare tx out item", prepared.error());
  TxOutItems& outputs = prepared->items;
  if (outputs.empty()) return Error(kErrNotEnoughToPayFee);
  Uint total;
  for (const TxOutItem& output : outputs) total += output.coin.amount;
  if (total < min_out) {
    return Error::New(sdk::StrCat("outbound amount does not meet requirements (", total.ToUint64(),
                                  "/", min_out.ToUint64(), ")"));
  }

  OutboundDelay delay{ctx.height(), Uint()};
  if (!item.chain.IsTHORChain() && !item.in_hash.IsEmpty() && !item.in_hash.IsBlank()) {
    KEEPER_ASSIGN_OR_RETURN(delay, Schedule(k, ctx, item.in_hash, outputs.front()));
  }
  Uint clout_left = delay.clout;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Uint share = i + 1 < outputs.size()
                           ? GetSafeShare(outputs[i].coin.amount, total, delay.clout)
                           : clout_left;
    clout_left = SafeSub(clout_left, share);
    outputs[i].clout_spent = share;
    KEEPER_RETURN_IF_ERROR(AddToBlockOut(mgr, ctx, std::move(outputs[i]), delay.height));
  }
  if (!prepared->fee_rune.IsZero() && !item.chain.IsTHORChain()) {
    // A failure is only logged by the node.
    (void)AddToOutboundFeeWithheldRune(k, ctx, item.coin.asset, prepared->fee_rune);
  }
  return {};
}

}  // namespace

Result<bool> TryAddTxOutItem(Managers& mgr, const Context& ctx, TxOutItem item,
                             const Uint& min_out) {
  if (item.to_address.IsNoop()) return true;
  if (item.chain.IsEVM() && item.to_address == Address(kEvmNullAddress)) {
    Tx tx;
    tx.id = item.in_hash;
    tx.chain = item.chain;
    tx.to_address = item.to_address;
    tx.coins = {item.coin};
    tx.gas = item.max_gas;
    tx.memo = item.memo;
    EmitSecurityEvent(ctx, tx, "evm outbound to null address");
    return true;
  }

  sdk::CacheContext branch(ctx);
  const Result<Uint> amount = TakeAffiliateFee(mgr, branch.context(), item);
  // The affiliates' share of trade and secured assets is taken from the recipient afterwards.
  if (amount.ok() && !item.coin.asset.IsTrade() && !item.coin.asset.IsSecured()) {
    item.coin.amount = *amount;
  }
  KEEPER_RETURN_IF_ERROR(TryAdd(mgr, branch.context(), item, min_out));
  branch.Commit();
  return true;
}

Error UnsafeAddTxOutItem(Managers& mgr, const Context& ctx, TxOutItem item, int64_t height) {
  if (item.to_address.IsNoop()) return {};
  KEEPER_RETURN_IF_ERROR(UseNewBchAddress(*mgr.keeper, &item));
  return AddToBlockOut(mgr, ctx, std::move(item), height);
}

}  // namespace blockreplay::keeper::thorchain
