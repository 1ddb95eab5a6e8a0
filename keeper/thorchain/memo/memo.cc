#include "keeper/thorchain/memo/memo.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "keeper/thorchain/common/status_text.h"
#include "keeper/thorchain/common/text.h"
#include "keeper/thorchain/memo/go_number.h"

namespace blockreplay::keeper::thorchain {
namespace {

struct Word {
  std::string_view word;
  TxType type;
};

constexpr std::array kWords{
    Word{"add", TxType::kAdd},
    Word{"+", TxType::kAdd},
    Word{"withdraw", TxType::kWithdraw},
    Word{"wd", TxType::kWithdraw},
    Word{"-", TxType::kWithdraw},
    Word{"swap", TxType::kSwap},
    Word{"s", TxType::kSwap},
    Word{"=", TxType::kSwap},
    Word{"=<", TxType::kLimitSwap},
    Word{"m=<", TxType::kModifyLimitSwap},
    Word{"out", TxType::kOutbound},
    Word{"donate", TxType::kDonate},
    Word{"d", TxType::kDonate},
    Word{"bond", TxType::kBond},
    Word{"unbond", TxType::kUnbond},
    Word{"rebond", TxType::kRebond},
    Word{"leave", TxType::kLeave},
    Word{"reserve", TxType::kReserve},
    Word{"refund", TxType::kRefund},
    Word{"migrate", TxType::kMigrate},
    Word{"ragnarok", TxType::kRagnarok},
    Word{"noop", TxType::kNoOp},
    Word{"consolidate", TxType::kConsolidate},
    Word{"name", TxType::kTHORName},
    Word{"n", TxType::kTHORName},
    Word{"~", TxType::kTHORName},
    Word{"reference", TxType::kReferenceWriteMemo},
    Word{"r", TxType::kReferenceReadMemo},
    Word{"trade+", TxType::kTradeAccountDeposit},
    Word{"trade-", TxType::kTradeAccountWithdrawal},
    Word{"secure+", TxType::kSecuredAssetDeposit},
    Word{"secure-", TxType::kSecuredAssetWithdraw},
    Word{"pool+", TxType::kRunePoolDeposit},
    Word{"pool-", TxType::kRunePoolWithdraw},
    Word{"x", TxType::kExec},
    Word{"exec", TxType::kExec},
    Word{"switch", TxType::kSwitch},
    Word{"tcy", TxType::kTCYClaim},
    Word{"tcy+", TxType::kTCYStake},
    Word{"tcy-", TxType::kTCYUnstake},
    Word{"maint", TxType::kMaint},
    Word{"operator", TxType::kOperatorRotate},
};

// Words that are written. Those that aren't listed have none.
constexpr std::array kWritten{
    Word{"add", TxType::kAdd},
    Word{"withdraw", TxType::kWithdraw},
    Word{"swap", TxType::kSwap},
    Word{"=<", TxType::kLimitSwap},
    Word{"m=<", TxType::kModifyLimitSwap},
    Word{"out", TxType::kOutbound},
    Word{"refund", TxType::kRefund},
    Word{"donate", TxType::kDonate},
    Word{"bond", TxType::kBond},
    Word{"unbond", TxType::kUnbond},
    Word{"rebond", TxType::kRebond},
    Word{"leave", TxType::kLeave},
    Word{"reserve", TxType::kReserve},
    Word{"migrate", TxType::kMigrate},
    Word{"ragnarok", TxType::kRagnarok},
    Word{"noop", TxType::kNoOp},
    Word{"consolidate", TxType::kConsolidate},
    Word{"thorname", TxType::kTHORName},
    Word{"reference", TxType::kReferenceWriteMemo},
    Word{"r", TxType::kReferenceReadMemo},
    Word{"trade+", TxType::kTradeAccountDeposit},
    Word{"trade-", TxType::kTradeAccountWithdrawal},
    Word{"secure+", TxType::kSecuredAssetDeposit},
    Word{"secure-", TxType::kSecuredAssetWithdraw},
    Word{"x", TxType::kExec},
    Word{"switch", TxType::kSwitch},
    Word{"tcy", TxType::kTCYClaim},
    Word{"tcy+", TxType::kTCYStake},
    Word{"tcy-", TxType::kTCYUnstake},
    Word{"maint", TxType::kMaint},
};

std::string Join(const std::vector<std::string>& parts, size_t count, char separator) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    if (i != 0) text += separator;
    text += parts[i];
  }
  return text;
}

std::string SwapText(const Memo& memo, const SwapMemo& swap, bool short_asset) {
  const bool streaming = swap.stream_interval > 0 || swap.stream_quantity > 1;
  std::string limit = swap.slip_limit.IsZero() ? "" : swap.slip_limit.ToString();
  if (streaming) {
    limit =
        StrCat(swap.slip_limit.ToString(), "/", swap.stream_interval, "/", swap.stream_quantity);
  }
  std::string asset(short_asset ? memo.asset.ShortCode() : "");
  if (asset.empty()) asset = memo.asset.ToString();
  std::string destination = swap.destination.ToString();
  if (!swap.refund_address.IsEmpty()) {
    destination += "/" + swap.refund_address.ToString();
  }
  std::vector<std::string> fees;
  for (const Uint& fee : swap.affiliates_basis_points) fees.push_back(fee.ToString());

  const std::string word(memo.type == TxType::kSwap ? "=" : ToString(memo.type));
  std::vector<std::string> parts{word,
                                 asset,
                                 destination,
                                 limit,
                                 Join(swap.affiliates, swap.affiliates.size(), '/'),
                                 Join(fees, fees.size(), '/'),
                                 swap.dex_aggregator,
                                 swap.dex_target_address};
  size_t count = 3;
  if (!swap.slip_limit.IsZero() || streaming) count = 4;
  if (!swap.affiliates.empty()) count = 6;
  if (!swap.dex_aggregator.empty()) count = 8;
  if (swap.dex_target_limit && !swap.dex_target_limit->IsZero()) {
    parts.push_back(swap.dex_target_limit->ToString());
    count = 9;
  }
  return Join(parts, count, ':');
}

std::string AddLiquidityText(const Memo& memo, const AddLiquidityMemo& add) {
  const std::vector<std::string> parts{
      std::string(memo.type == TxType::kAdd ? "+" : ToString(memo.type)), memo.asset.ToString(),
      add.address.ToString(), add.affiliate_address.ToString(),
      add.affiliate_basis_points.ToString()};
  size_t count = 2;
  if (!add.address.IsEmpty()) count = 3;
  if (!add.affiliate_address.IsEmpty()) count = 5;
  return Join(parts, count, ':');
}

std::string Text(const Memo& memo, const Network& network, bool short_asset) {
  if (const auto* m = memo.As<SwapMemo>()) return SwapText(memo, *m, short_asset);
  if (const auto* m = memo.As<AddLiquidityMemo>()) return AddLiquidityText(memo, *m);
  if (const auto* m = memo.As<OutboundMemo>()) return OutboundMemoText(m->tx_id);
  if (const auto* m = memo.As<RefundMemo>()) return RefundMemoText(m->tx_id);
  if (const auto* m = memo.As<MigrateMemo>()) return MigrateMemoText(m->block_height);
  if (const auto* m = memo.As<RagnarokMemo>()) return RagnarokMemoText(m->block_height);
  if (memo.As<DonateMemo>() != nullptr) return StrCat("DONATE:", memo.asset.ToString());
  if (const auto* m = memo.As<NoOpMemo>()) {
    return m->action.empty() ? "noop" : StrCat("noop:", m->action);
  }
  if (memo.As<ConsolidateMemo>() != nullptr) return "consolidate";
  if (const auto* m = memo.As<MaintMemo>()) {
    return StrCat("maint:", m->node_address.ToString(network));
  }
  if (memo.As<RunePoolDepositMemo>() != nullptr) return "pool+";
  if (const auto* m = memo.As<RunePoolWithdrawMemo>()) {
    // This type has no word: the text starts with a colon.
    return StrCat(ToString(TxType::kRunePoolWithdraw), ":", m->basis_points.ToString(), ":",
                  m->affiliate_address.ToString(), ":", m->affiliate_basis_points.ToString());
  }
  if (const auto* m = memo.As<ExecMemo>()) {
    return StrCat(ToString(TxType::kExec), ":", m->contract_address.ToString(network), ":",
                  EncodeBase64(m->message));
  }
  return "";
}

}  // namespace

absl::StatusOr<TxType> ParseTxType(std::string_view word) {
  const std::string lower = ToLower(word);
  const auto found = std::find_if(kWords.begin(), kWords.end(),
                                  [&](const Word& entry) { return entry.word == lower; });
  if (found == kWords.end()) return Error("invalid tx type: ", word);
  return found->type;
}

std::string_view ToString(TxType type) {
  const auto found = std::find_if(kWritten.begin(), kWritten.end(),
                                  [&](const Word& entry) { return entry.type == type; });
  return found == kWritten.end() ? std::string_view() : found->word;
}

bool IsInbound(TxType type) {
  switch (type) {
    case TxType::kUnknown:
    case TxType::kOutbound:
    case TxType::kRefund:
    case TxType::kMigrate:
    case TxType::kRagnarok:
    case TxType::kConsolidate:
      return false;
    default:
      return true;
  }
}

bool IsOutbound(TxType type) {
  return type == TxType::kOutbound || type == TxType::kRefund || type == TxType::kRagnarok;
}

bool IsOutboundMemoless(TxType type) {
  return type == TxType::kOutbound || type == TxType::kRefund;
}

bool IsInternal(TxType type) { return type == TxType::kMigrate || type == TxType::kConsolidate; }

bool HasOutbound(TxType type) {
  switch (type) {
    case TxType::kAdd:
    case TxType::kBond:
    case TxType::kTradeAccountDeposit:
    case TxType::kSecuredAssetDeposit:
    case TxType::kRunePoolDeposit:
    case TxType::kDonate:
    case TxType::kReserve:
    case TxType::kMigrate:
    case TxType::kMaint:
    case TxType::kRagnarok:
      return false;
    default:
      return true;
  }
}

Address Memo::GetDestination() const {
  if (const auto* m = As<SwapMemo>()) return m->destination;
  if (const auto* m = As<AddLiquidityMemo>()) return m->address;
  return Address();
}

Address Memo::GetRefundAddress() const {
  const auto* m = As<SwapMemo>();
  return m != nullptr ? m->refund_address : Address();
}

Uint Memo::GetAmount() const {
  if (const auto* m = As<WithdrawLiquidityMemo>()) return m->basis_points;
  if (const auto* m = As<UnbondMemo>()) return m->amount;
  if (const auto* m = As<RebondMemo>()) return m->amount;
  return Uint();
}

Uint Memo::GetSlipLimit() const {
  const auto* m = As<SwapMemo>();
  return m != nullptr ? m->slip_limit : Uint();
}

TxID Memo::GetTxID() const {
  if (const auto* m = As<OutboundMemo>()) return m->tx_id;
  if (const auto* m = As<RefundMemo>()) return m->tx_id;
  return TxID();
}

int64_t Memo::GetBlockHeight() const {
  if (const auto* m = As<MigrateMemo>()) return m->block_height;
  if (const auto* m = As<RagnarokMemo>()) return m->block_height;
  return 0;
}

AccAddress Memo::GetAccAddress() const {
  if (const auto* m = As<BondMemo>()) return m->node_address;
  if (const auto* m = As<UnbondMemo>()) return m->node_address;
  if (const auto* m = As<LeaveMemo>()) return m->node_address;
  if (const auto* m = As<MaintMemo>()) return m->node_address;
  if (const auto* m = As<ExecMemo>()) return m->contract_address;
  if (const auto* m = As<SwitchMemo>()) return m->address;
  if (const auto* m = As<TradeAccountDepositMemo>()) return m->address;
  if (const auto* m = As<SecuredAssetDepositMemo>()) return m->address;
  return AccAddress();
}

std::string_view Memo::GetDexAggregator() const {
  const auto* m = As<SwapMemo>();
  return m != nullptr ? std::string_view(m->dex_aggregator) : std::string_view();
}

std::string_view Memo::GetDexTargetAddress() const {
  const auto* m = As<SwapMemo>();
  return m != nullptr ? std::string_view(m->dex_target_address) : std::string_view();
}

std::optional<Uint> Memo::GetDexTargetLimit() const {
  const auto* m = As<SwapMemo>();
  return m != nullptr ? m->dex_target_limit : std::nullopt;
}

std::string Memo::ToString(const Network& network) const { return Text(*this, network, false); }
std::string Memo::ToShortString(const Network& network) const { return Text(*this, network, true); }

std::string OutboundMemoText(const TxID& in_hash) { return StrCat("OUT:", in_hash.ToString()); }
std::string RefundMemoText(const TxID& in_hash) { return StrCat("REFUND:", in_hash.ToString()); }
std::string MigrateMemoText(int64_t block_height) { return StrCat("MIGRATE:", block_height); }
std::string RagnarokMemoText(int64_t block_height) { return StrCat("RAGNAROK:", block_height); }

}  // namespace blockreplay::keeper::thorchain
