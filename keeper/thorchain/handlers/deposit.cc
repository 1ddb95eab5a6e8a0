#include "keeper/thorchain/handlers/deposit.h"

#include <string>
#include <utility>

#include "keeper/thorchain/common/digest.h"
#include "keeper/thorchain/handlers/internal.h"
#include "keeper/thorchain/handlers/memo_to_message.h"
#include "keeper/thorchain/handlers/reference_lookup.h"
#include "keeper/thorchain/managers/refund.h"
#include "keeper/thorchain/managers/secured_assets.h"
#include "keeper/thorchain/managers/swap_queue.h"
#include "keeper/thorchain/managers/trade_accounts.h"
#include "keeper/thorchain/modules.h"
#include "keeper/thorchain/state/funds.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/observed_txs.h"
#include "keeper/thorchain/state/pub_keys.h"
#include "keeper/thorchain/state/trading_halts.h"

namespace blockreplay::keeper::thorchain {
namespace {

constexpr size_t kMaxMemoSize = 250;
constexpr size_t kMaxSaltSize = 64;
// The reason code of a refund after a swap that wasn't taken.
constexpr uint32_t kSwapFailed = 108;

Error CheckDeposit(const Keeper& k, const MsgDeposit& message) {
  if (message.signer.IsEmpty()) {
    return Error(sdk::kErrInvalidAddress, message.signer.ToString(k.network()));
  }
  for (const Coin& coin : message.coins) {
    if (!coin.IsNative()) {
      return Error(sdk::kErrUnknownRequest, "all coins must be native to THORChain");
    }
  }
  if (message.memo.size() > kMaxMemoSize) {
    return Error(sdk::kErrUnknownRequest, sdk::StrCat("memo must not exceed ", kMaxMemoSize,
                                                      " bytes: ", message.memo.size()));
  }
  if (message.salt.size() > kMaxSaltSize) {
    return Error(sdk::kErrUnknownRequest, sdk::StrCat("salt must not exceed ", kMaxSaltSize,
                                                      " bytes: ", message.salt.size()));
  }
  if (message.coins.size() != 1) return Error::New("only one coin is allowed");
  if (absl::Status status = message.coins.front().asset.Valid(); !status.ok()) {
    return Error::New("invalid coin: " + std::string(status.message()));
  }
  return {};
}

Error CheckFunds(const Keeper& k, const Context& ctx, const MsgDeposit& message) {
  const Coin& coin = message.coins.front();
  bool enough = true;
  if (coin.asset.IsTrade()) {
    enough = coin.amount <= TradeAccountBalance(k, ctx, coin.asset, message.signer);
  } else if (coin.asset.IsSecured()) {
    enough = coin.amount <= SecuredAssetBalance(k, ctx, coin.asset, message.signer);
  } else {
    const sdk::Coins coins = ToBankCoins(message.coins);
    enough = message.coins.IsEmpty() || HasCoins(k, ctx, message.signer, coins);
  }
  return enough ? Error() : Error(sdk::kErrInsufficientFunds);
}

// What the deposit counts as on THORChain: the hash of its transaction, or of the message where
// there is none.
std::string DepositHash(const Context& ctx, const MsgDeposit& message) {
  std::string source(ctx.tx_bytes());
  if (source.empty()) {
    source = Encode(message);
    const auto height = static_cast<uint64_t>(ctx.height());
    for (int shift = 56; shift >= 0; shift -= 8) {
      source.push_back(static_cast<char>(height >> shift));
    }
  }
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string text;
  for (const char c : Sha256(source)) {
    const auto byte = static_cast<unsigned char>(c);
    text.push_back(kDigits[byte >> 4U]);
    text.push_back(kDigits[byte & 15U]);
  }
  return text;
}

// The first of the hash and its numbered successors that no transaction has. Each try repeats the
// checks that go before, as the node does.
Result<TxID> ChooseTxId(const Keeper& k, const Context& ctx, const MsgDeposit& message) {
  const std::string hash = DepositHash(ctx, message);
  for (uint16_t index = 0;; ++index) {
    if (IsChainHalted(k, ctx, chains::kTHOR)) {
      return Error::New("unable to use MsgDeposit while THORChain is halted");
    }
    KEEPER_RETURN_IF_ERROR(CheckFunds(k, ctx, message));
    absl::StatusOr<TxID> id = TxID::Parse(index == 0 ? hash : sdk::StrCat(hash, "-", index));
    if (!id.ok()) return Error::New("fail to get tx hash: " + std::string(id.status().message()));
    const Result<ObservedTxVoter> voter = GetObservedTxInVoter(k, ctx, *id);
    if (!voter.ok()) return Error::Opaque("fail to get existing voter", voter.error());
    if (voter->txs.empty()) return *std::move(id);
    const auto limit =
        static_cast<uint16_t>(GetConfigInt64(k, ctx, ConstantName::kMaxDepositTxIDRetries));
    if (index >= limit) {
      return Error::New(
          sdk::StrCat("txid: ", id->ToString(), " already exist after max retries (", limit, ")"));
    }
  }
}

// The memo, and what it means after a reference was looked up.
Error ReadMemo(const Keeper& k, const Context& ctx, const TxID& id, const Address& from,
               MsgDeposit* message, Memo* memo) {
  const Coin& coin = message->coins.front();
  if (IsBlank(message->memo)) {
    const Result<std::string> reference = ReferenceFromNativeAmount(k, ctx, coin.amount.ToUint64());
    if (!reference.ok()) {
      return Error::Opaque("memoless native deposit failed", reference.error());
    }
    message->memo = ReferenceReadMemo{*reference}.CreateMemo();
  }
  MemoResult parsed = ParseMemoWithNames(k, ctx, message->memo);
  if (!parsed.ok()) return Error::New("invalid memo: " + std::string(parsed.status.message()));
  if (parsed.memo.IsOutbound() || parsed.memo.IsInternal()) {
    return Error::New("cannot send inbound an outbound or internal transaction");
  }
  if (parsed.memo.type == TxType::kReferenceReadMemo) {
    const Tx tx = Tx::Make(id, from, Address(), message->coins, {}, message->memo);
    message->memo = ResolveReference(k, ctx, coin.asset, tx, ctx.height());
    parsed = ParseMemoWithNames(k, ctx, message->memo);
    if (!parsed.ok()) {
      return Error::New("invalid resolved memo: " + std::string(parsed.status.message()));
    }
  }
  *memo = std::move(parsed.memo);
  return {};
}

// Where the funds go.
std::string_view TargetModule(TxType type) {
  switch (type) {
    case TxType::kBond:
    case TxType::kUnbond:
    case TxType::kLeave:
    case TxType::kOperatorRotate:
      return kBondModule;
    case TxType::kReserve:
    case TxType::kTHORName:
    case TxType::kTCYClaim:
    case TxType::kMaint:
    case TxType::kModifyLimitSwap:
      return kReserveModule;
    case TxType::kTCYStake:
    case TxType::kTCYUnstake:
      return kTcyStakeModule;
    default:
      return kAsgardModule;
  }
}

Error TakeFunds(const Keeper& k, const Context& ctx, const MsgDeposit& message, TxType type) {
  if (message.coins.IsEmpty()) return {};
  const std::string_view module = TargetModule(type);
  const Asset& asset = message.coins.front().asset;
  if (module != kAsgardModule && !asset.IsRune() && !asset.IsTCY() && !asset.IsWhitelisted()) {
    return Error::New(sdk::StrCat("(", ToString(type), ") memos are for the (", module,
                                  ") module, for which messages must only contain RUNE or TCY"));
  }
  // Handlers take trade and secured assets, which belong to no module.
  if (asset.IsTrade() || asset.IsSecured()) return {};
  return SendFromAccountToModule(k, ctx, message.signer, module, message.coins);
}

// Swaps wait in a queue; one that isn't taken is refunded.
Error QueueSwap(Managers& mgr, const Context& ctx, const ObservedTx& tx, const MsgSwap& swap) {
  const Error error = AddSwap(mgr, ctx, swap);
  if (!error) return {};
  if (Error refund = RefundTx(mgr, ctx, tx, kSwapFailed, error.message(), ""); refund) {
    return Error::New(sdk::StrCat("swap failed and refund also failed: ", error.message(),
                                  ", refund error: ", refund.message()));
  }
  return {};
}

class DepositHandler : public Handler<MsgDeposit> {
 public:
  explicit DepositHandler(Managers* managers) : Handler("/types.MsgDeposit", managers) {}

 protected:
  Error ValidateBasic(const MsgDeposit& message) const override {
    return CheckDeposit(k(), message);
  }
  std::vector<AccAddress> GetSigners(const MsgDeposit& message) const override {
    return {message.signer};
  }
  Error Ante(const Context& ctx, const MsgDeposit& message) const override {
    return DeductNativeTxFee(k(), ctx, message.signer);
  }
  Error Validate(const Context& ctx, const MsgDeposit& message) const override {
    return ValidateDeposit(mgr(), ctx, message);
  }
  Error Run(const Context& ctx, const MsgDeposit& message) const override {
    return RunDeposit(mgr(), ctx, message);
  }
  std::string_view ExclusiveGroup(const MsgDeposit&) const override { return kDepositGroup; }
};

}  // namespace

Error ValidateDeposit(Managers& mgr, const Context&, const MsgDeposit& message) {
  return CheckDeposit(*mgr.keeper, message);
}

Error RunDeposit(Managers& mgr, const Context& ctx, const MsgDeposit& deposit) {
  const Keeper& k = *mgr.keeper;
  MsgDeposit message = deposit;
  KEEPER_ASSIGN_OR_RETURN(const TxID id, ChooseTxId(k, ctx, message));
  const Address from(ToText(k, message.signer));
  Memo memo;
  KEEPER_RETURN_IF_ERROR(ReadMemo(k, ctx, id, from, &message, &memo));
  KEEPER_RETURN_IF_ERROR(TakeFunds(k, ctx, message, memo.type));

  ObservedTx observed;
  observed.tx = Tx::Make(id, from, ModuleAddress(k, TargetModule(memo.type)), message.coins, {},
                         message.memo);
  observed.tx.chain = chains::kTHOR;
  ObservedTxVoter voter;
  voter.tx_id = id;
  voter.txs = {observed};
  voter.tx = observed;
  voter.height = ctx.height();
  voter.finalised_height = ctx.height();
  SetObservedTxInVoter(k, ctx, voter);

  KEEPER_ASSIGN_OR_RETURN(const InternalMessage internal,
                          ProcessOneTxIn(k, ctx, observed, message.signer));
  const auto* swap = std::get_if<MsgSwap>(&internal);
  const auto* add = std::get_if<MsgAddLiquidity>(&internal);
  if ((swap != nullptr && IsTradingHalted(k, ctx, *swap)) ||
      (add != nullptr && IsTradingHalted(k, ctx, *add)) ||
      ((swap != nullptr || add != nullptr) && IsRagnarokInProgress(k, ctx))) {
    return Error::New("trading is halted");
  }
  if (swap != nullptr) return QueueSwap(mgr, ctx, observed, *swap);

  const Result<InternalResult> result = HandleInternalMessage(mgr, ctx, internal);
  if (!result.ok()) return result.error();
  if (HasOutbound(memo.type)) return {};
  Result<ObservedTxVoter> stored = GetObservedTxInVoter(k, ctx, id);
  if (!stored.ok()) return Error::New("fail to get voter");
  SetDone(&*stored);
  SetObservedTxInVoter(k, ctx, *stored);
  return {};
}

std::unique_ptr<sdk::MessageHandler> NewDepositHandler(Managers* managers) {
  return std::make_unique<DepositHandler>(managers);
}

}  // namespace blockreplay::keeper::thorchain
