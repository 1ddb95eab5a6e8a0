#include "keeper/thorchain/handlers/memo_to_message.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "keeper/thorchain/memo/asset_match.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/pools.h"
#include "keeper/thorchain/state/thornames.h"

namespace blockreplay::keeper::thorchain {
namespace {

// What a withdraw memo without basis points asks for.
constexpr uint64_t kMaxWithdrawBasisPoints = 10'000;

class StateMemoContext : public MemoContext {
 public:
  StateMemoContext(const Keeper& k, const Context& ctx) : k_(k), ctx_(ctx) {}

  bool THORNameExists(std::string_view name) override {
    return thorchain::THORNameExists(k_, ctx_, name);
  }
  absl::StatusOr<THORName> GetTHORName(std::string_view name) override {
    Result<THORName> record = thorchain::GetTHORName(k_, ctx_, name);
    if (!record.ok()) return absl::NotFoundError(record.error().message());
    return *std::move(record);
  }
  int64_t GetConfigInt64(ConstantName name) override {
    return thorchain::GetConfigInt64(k_, ctx_, name);
  }

 private:
  const Keeper& k_;
  const Context& ctx_;
};

class StatePoolLookup : public PoolLookup {
 public:
  StatePoolLookup(const Keeper& k, const Context& ctx) : k_(k), ctx_(ctx) {}

  std::optional<Uint> GetBalanceRune(const Asset& asset) override {
    const Result<Pool> pool = GetPool(k_, ctx_, asset);
    if (!pool.ok()) return std::nullopt;
    return pool->balance_rune;
  }
  void ForEachPool(const std::function<void(const Asset&, const Uint&)>& visit) override {
    for (sdk::GasIterator it = k_.kv(ctx_).IteratePrefix(kPoolPrefix); it.Valid(); it.Next()) {
      Pool pool;
      if (Decode(it.value(), &pool)) visit(pool.asset, pool.balance_rune);
    }
  }

 private:
  const Keeper& k_;
  const Context& ctx_;
};

// Amounts of RUNE and of the memo's asset that came with a transaction.
Uint RuneAmount(const Tx& tx) { return tx.coins.GetCoin(assets::kRune).amount; }
Uint AssetAmount(const Tx& tx, const Asset& asset) { return tx.coins.GetCoin(asset).amount; }

class MessageMaker {
 public:
  MessageMaker(const Keeper& k, const Context& ctx, const ObservedTx& tx, const AccAddress& signer,
               Memo* memo)
      : k_(k), ctx_(ctx), observed_(tx), tx_(tx.tx), signer_(signer), memo_(*memo) {}

  Result<InternalMessage> operator()(AddLiquidityMemo& memo) {
    memo_.asset = FuzzyAssetMatch(k_, ctx_, memo_.asset);
    MsgAddLiquidity message;
    message.tx = tx_;
    message.asset = memo_.asset;
    message.rune_amount = RuneAmount(tx_);
    message.asset_amount = AssetAmount(tx_, memo_.asset);
    if (tx_.chain == chains::kTHOR) {
      message.rune_address = tx_.from_address;
      message.asset_address = memo.address;
    } else {
      message.rune_address = memo.address;
      message.asset_address = tx_.from_address;
    }
    if (memo_.asset.chain == chains::kTHOR) message.asset_address = message.rune_address;
    message.affiliate_address = memo.affiliate_address;
    message.affiliate_basis_points = memo.affiliate_basis_points;
    return Signed(std::move(message));
  }
  Result<InternalMessage> operator()(WithdrawLiquidityMemo& memo) {
    memo_.asset = FuzzyAssetMatch(k_, ctx_, memo_.asset);
    memo.withdrawal_asset = FuzzyAssetMatch(k_, ctx_, memo.withdrawal_asset);
    MsgWithdrawLiquidity message;
    message.tx = tx_;
    message.withdraw_address = tx_.from_address;
    message.basis_points =
        memo.basis_points.IsZero() ? Uint(kMaxWithdrawBasisPoints) : memo.basis_points;
    message.asset = memo_.asset;
    message.withdrawal_asset = memo.withdrawal_asset;
    return Signed(std::move(message));
  }
  Result<InternalMessage> operator()(SwapMemo& memo) {
    memo_.asset = FuzzyAssetMatch(k_, ctx_, memo_.asset);
    MsgSwap message;
    message.aggregator_target_address =
        MatchExternalAsset(*k_.build, memo_.asset.GetChain(), memo.dex_target_address);
    message.tx = tx_;
    message.target_asset = memo_.asset;
    message.destination = memo.destination.IsEmpty() ? tx_.from_address : memo.destination;
    message.trade_target = memo.slip_limit;
    message.affiliate_address = memo.affiliate_address;
    message.affiliate_basis_points = memo.affiliate_basis_points;
    message.aggregator = memo.dex_aggregator;
    message.aggregator_target_limit = memo.dex_target_limit;
    message.swap_type = memo.swap_type;
    message.stream_quantity = memo.stream_quantity;
    message.stream_interval = memo.stream_interval;
    message.version = GetConfigInt64(k_, ctx_, ConstantName::kEnableAdvSwapQueue) != 0
                          ? SwapVersion::v2
                          : SwapVersion::v1;
    SwapState& state = message.state.emplace();
    state.quantity = memo.stream_quantity;
    state.interval = memo.stream_interval;
    state.deposit = tx_.coins.front().amount;
    return Signed(std::move(message));
  }
  Result<InternalMessage> operator()(const ModifyLimitSwapMemo& memo) {
    MsgModifyLimitSwap message;
    message.from = tx_.from_address;
    message.source = memo.source;
    message.target = memo.target;
    message.modified_target_amount = memo.modified_target_amount;
    if (!tx_.coins.empty()) {
      message.deposit_asset = tx_.coins.front().asset;
      message.deposit_amount = tx_.coins.front().amount;
    }
    return Signed(std::move(message));
  }
  Result<InternalMessage> operator()(const DonateMemo&) {
    memo_.asset = FuzzyAssetMatch(k_, ctx_, memo_.asset);
    MsgDonate message;
    message.tx = tx_;
    message.asset = memo_.asset;
    message.rune_amount = RuneAmount(tx_);
    message.asset_amount = AssetAmount(tx_, memo_.asset);
    return Signed(std::move(message));
  }
  Result<InternalMessage> operator()(const RefundMemo& memo) {
    return OfObserved(&MsgRefundTx::in_tx_id, memo.tx_id);
  }
  Result<InternalMessage> operator()(const OutboundMemo& memo) {
    return OfObserved(&MsgOutboundTx::in_tx_id, memo.tx_id);
  }
  Result<InternalMessage> operator()(const MigrateMemo& memo) {
    return OfObserved(&MsgMigrate::block_height, memo.block_height);
  }
  Result<InternalMessage> operator()(const RagnarokMemo& memo) {
    return OfObserved(&MsgRagnarok::block_height, memo.block_height);
  }
  Result<InternalMessage> operator()(const BondMemo& memo) {
    MsgBond message;
    message.tx_in = tx_;
    message.node_address = memo.node_address;
    message.bond = RuneAmount(tx_);
    message.bond_address = tx_.from_address;
    message.bond_provider_address = memo.bond_provider_address;
    message.operator_fee = memo.node_operator_fee;
    return Signed(std::move(message));
  }
  Result<InternalMessage> operator()(const UnbondMemo& memo) {
    MsgUnBond message;
    message.tx_in = tx_;
    message.node_address = memo.node_address;
    message.amount = memo.amount;
    message.bond_address = tx_.from_address;
    message.bond_provider_address = memo.bond_provider_address;
    return Signed(std::move(message));
  }
  Result<InternalMessage> operator()(const RebondMemo& memo) {
    MsgReBond message;
    message.tx_in = tx_;
    message.node_address = memo.node_address;
    message.new_bond_provider_address = memo.new_bond_provider_address;
    message.amount = memo.amount;
    return Signed(std::move(message));
  }
  Result<InternalMessage> operator()(const LeaveMemo& memo) {
    return OfTx(&MsgLeave::node_address, memo.node_address);
  }
  Result<InternalMessage> operator()(const ReserveMemo&) {
    MsgReserveContributor message;
    message.tx = tx_;
    message.contributor.address = tx_.from_address;
    message.contributor.amount = RuneAmount(tx_);
    return Signed(std::move(message));
  }
  Result<InternalMessage> operator()(const NoOpMemo& memo) {
    MsgNoOp message;
    message.observed_tx = observed_;
    message.action = memo.action;
    return Signed(std::move(message));
  }
  Result<InternalMessage> operator()(const ConsolidateMemo&) {
    MsgConsolidate message;
    message.observed_tx = observed_;
    return Signed(std::move(message));
  }
  Result<InternalMessage> operator()(const ReferenceWriteMemo& memo) {
    MsgReferenceMemo message;
    message.asset = memo_.asset;
    message.memo = memo.memo;
    return Signed(std::move(message));
  }
  Result<InternalMessage> operator()(const ManageTHORNameMemo& memo) {
    if (tx_.coins.empty()) return Error::New("transaction must have rune in it");
    MsgManageTHORName message;
    message.name = memo.name;
    message.chain = memo.chain;
    message.address = memo.address;
    message.coin = tx_.coins.front();
    message.expire_block_height = memo.expire;
    message.preferred_asset = memo.preferred_asset;
    message.owner = memo.owner;
    message.preferred_asset_outbound_fee_multiplier = memo.preferred_asset_outbound_fee_multiplier;
    return Signed(std::move(message));
  }
  Result<InternalMessage> operator()(const TradeAccountDepositMemo& memo) {
    return OfCoin(&MsgTradeAccountDeposit::address, memo.address);
  }
  Result<InternalMessage> operator()(const TradeAccountWithdrawalMemo& memo) {
    return OfCoin(&MsgTradeAccountWithdrawal::asset_address, memo.address);
  }
  Result<InternalMessage> operator()(const SecuredAssetDepositMemo& memo) {
    return OfCoin(&MsgSecuredAssetDeposit::address, memo.address);
  }
  Result<InternalMessage> operator()(const SecuredAssetWithdrawMemo& memo) {
    return OfCoin(&MsgSecuredAssetWithdraw::asset_address, memo.address);
  }
  Result<InternalMessage> operator()(const SwitchMemo& memo) {
    return OfCoin(&MsgSwitch::address, memo.address);
  }
  Result<InternalMessage> operator()(const RunePoolDepositMemo&) {
    MsgRunePoolDeposit message;
    message.tx = tx_;
    return Signed(std::move(message));
  }
  Result<InternalMessage> operator()(const RunePoolWithdrawMemo& memo) {
    MsgRunePoolWithdraw message;
    message.tx = tx_;
    message.basis_points = memo.basis_points;
    message.affiliate_address = memo.affiliate_address;
    message.affiliate_basis_points = memo.affiliate_basis_points;
    return Signed(std::move(message));
  }
  Result<InternalMessage> operator()(const ExecMemo& memo) {
    absl::StatusOr<AccAddress> sender = tx_.from_address.ToMappedAccAddress(k_.network());
    if (!sender.ok()) return Error::New(std::string(sender.status().message()));
    MsgWasmExec message;
    message.tx = tx_;
    message.asset = tx_.coins.front().asset;
    message.amount = tx_.coins.front().amount;
    message.contract = memo.contract_address;
    message.msg = memo.message;
    message.sender = *std::move(sender);
    return Signed(std::move(message));
  }
  Result<InternalMessage> operator()(const TCYClaimMemo& memo) {
    MsgTCYClaim message;
    message.rune_address = memo.address;
    message.l1_address = tx_.from_address;
    return Signed(std::move(message));
  }
  Result<InternalMessage> operator()(const TCYStakeMemo&) {
    MsgTCYStake message;
    message.tx = tx_;
    return Signed(std::move(message));
  }
  Result<InternalMessage> operator()(const TCYUnstakeMemo& memo) {
    return OfTx(&MsgTCYUnstake::basis_points, memo.basis_points);
  }
  Result<InternalMessage> operator()(const MaintMemo& memo) {
    MsgMaint message;
    message.node_address = memo.node_address;
    return Signed(std::move(message));
  }
  Result<InternalMessage> operator()(const OperatorRotateMemo& memo) {
    MsgOperatorRotate message;
    message.operator_address = memo.operator_address;
    message.coin = tx_.coins.front();
    return Signed(std::move(message));
  }
  // Memos that ask for nothing: references must have been resolved before.
  Result<InternalMessage> operator()(const ReferenceReadMemo&) { return Error(kErrInvalidMemo); }
  Result<InternalMessage> operator()(std::monostate) { return Error(kErrInvalidMemo); }

 private:
  template <typename Message>
  InternalMessage Signed(Message message) const {
    message.signer = signer_;
    return message;
  }
  // Messages of a transaction, of its observation, or of its coin, with what the memo says beside.
  template <typename Message, typename Value>
  InternalMessage OfTx(Value Message::* member, const Value& value) const {
    Message message;
    message.tx = tx_;
    message.*member = value;
    return Signed(std::move(message));
  }
  template <typename Message, typename Value>
  InternalMessage OfObserved(Value Message::* member, const Value& value) const {
    Message message;
    message.tx = observed_;
    message.*member = value;
    return Signed(std::move(message));
  }
  template <typename Message, typename Value>
  InternalMessage OfCoin(Value Message::* member, const Value& value) const {
    Message message;
    message.tx = tx_;
    message.asset = tx_.coins.front().asset;
    message.amount = tx_.coins.front().amount;
    message.*member = value;
    return Signed(std::move(message));
  }

  const Keeper& k_;
  const Context& ctx_;
  const ObservedTx& observed_;
  const Tx& tx_;
  const AccAddress& signer_;
  Memo& memo_;
};

}  // namespace

MemoResult ParseMemoWithNames(const Keeper& k, const Context& ctx, std::string_view memo) {
  StateMemoContext context(k, ctx);
  try {
    return ParseMemo(memo, context, k.network());
  } catch (const sdk::Panic& panic) {
    return {Memo(), absl::InvalidArgumentError(
                        sdk::StrCat("panicked parsing memo(", memo, "), err: ", panic.message()))};
  }
}

Asset FuzzyAssetMatch(const Keeper& k, const Context& ctx, const Asset& asset) {
  StatePoolLookup pools(k, ctx);
  return FuzzyAssetMatch(pools, asset);
}

Result<InternalMessage> ProcessOneTxIn(const Keeper& k, const Context& ctx, const ObservedTx& tx,
                                       const AccAddress& signer) {
  if (tx.tx.coins.size() != 1) {
    return Error(sdk::kErrInvalidCoins, "only send 1 coins per message");
  }
  MemoResult parsed = ParseMemoWithNames(k, ctx, tx.tx.memo);
  if (!parsed.ok()) return Error::New(std::string(parsed.status.message()));
  KEEPER_ASSIGN_OR_RETURN(
      InternalMessage message,
      std::visit(MessageMaker(k, ctx, tx, signer, &parsed.memo), parsed.memo.details));
  KEEPER_RETURN_IF_ERROR(ValidateInternalMessage(k, message));
  return message;
}

}  // namespace blockreplay::keeper::thorchain
