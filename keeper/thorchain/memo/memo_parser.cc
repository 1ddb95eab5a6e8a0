#include <array>
#include <cstddef>
#include <utility>

#include "keeper/thorchain/common/panic.h"
#include "keeper/thorchain/common/status_text.h"
#include "keeper/thorchain/common/text.h"
#include "keeper/thorchain/memo/bank_coin.h"
#include "keeper/thorchain/memo/go_number.h"
#include "keeper/thorchain/memo/memo.h"

namespace blockreplay::keeper::thorchain {
namespace {

// Registering a memo that registers a memo and so on. Memos that get here have 250 bytes at most,
// which is some twenty levels.
constexpr int kMaxDepth = 64;

MemoResult ParseAtDepth(std::string_view memo, MemoContext* context, const Network& network,
                        int depth);

// Reads the fields of one memo. An accessor that doesn't understand its field notes an error,
// unless the field is optional and empty, and gives a default; parsing goes on, so that one message
// tells all.
class Parser {
 public:
  Parser(std::string_view memo, TxType type, MemoContext* context, const Network& network,
         int depth)
      : memo_(memo),
        parts_(Split(memo, ':')),
        type_(type),
        context_(context),
        network_(network),
        depth_(depth) {}

  MemoResult Parse() {
    MemoResult result = ParseKind();
    // Some kinds return without having looked at the errors.
    if (result.status.ok()) result.status = Finish();
    return result;
  }

 private:
  enum Need : bool { kOptional = false, kRequired = true };

  MemoResult ParseKind();
  MemoResult ParseSwap();
  MemoResult ParseSwapWithoutState();
  MemoResult ParseAddLiquidity();
  MemoResult ParseAddLiquidityWithoutState();
  MemoResult ParseReferenceWrite();
  MemoResult ParseReferenceRead();

  // A memo of the parser's type with what was noted about it.
  MemoResult Done(Memo::Details details, Asset asset = {}) {
    return DoneAs(type_, std::move(details), std::move(asset));
  }
  MemoResult DoneAs(TxType type, Memo::Details details, Asset asset = {}) {
    MemoResult result;
    result.memo.type = type;
    result.memo.asset = std::move(asset);
    result.memo.details = std::move(details);
    result.status = Finish();
    return result;
  }
  // A memo of the right kind without type or content.
  static MemoResult Failed(Memo::Details details, absl::Status status) {
    MemoResult result;
    result.memo.details = std::move(details);
    result.status = std::move(status);
    return result;
  }

  // The noted errors as one; adds to them that parts are missing.
  absl::Status Finish() {
    const size_t needed = required_ + 1;
    if (parts_.size() < needed) {
      Note("not enough parameters: ", parts_.size(), "/", needed);
    }
    if (errors_.empty()) return absl::OkStatus();
    std::string text;
    for (const std::string& error : errors_) {
      if (!text.empty()) text += '-';
      text += error;
    }
    return Error("MEMO: ", memo_, "\nPARSE FAILURE(S): ", text);
  }

  template <typename... Pieces>
  void Note(const Pieces&... pieces) {
    errors_.push_back(StrCat(pieces...));
  }

  // Empty beyond the end.
  std::string_view Part(size_t index) const {
    return index < parts_.size() ? parts_[index] : std::string_view();
  }
  void Count(Need need) { required_ += need == kRequired ? 1 : 0; }
  bool Matters(size_t index, Need need) const { return need == kRequired || !Part(index).empty(); }

  int64_t Int64(size_t index, Need need, int64_t fallback);
  Uint Number(size_t index, Need need, uint64_t fallback);
  Uint NumberUpTo(size_t index, Need need, uint64_t fallback, uint64_t maximum);
  Uint ScientificNumber(size_t index);
  std::vector<std::string> Texts(size_t index) const;
  std::vector<Uint> Numbers(size_t index);
  AccAddress Account(size_t index, Need need);
  Address PlainAddress(size_t index, Need need);
  Address ThorAddress(size_t index);
  Address NamedAddress(size_t index, const Chain& chain);
  Address ResolveAddress(std::string_view text, const Chain& chain);
  std::pair<Address, Address> AddressAndRefund(size_t index, const Chain& chain);
  Chain ChainId(size_t index);
  Asset AssetName(size_t index, Need need);
  Coin CoinText(size_t index);
  TxID Hash(size_t index);
  std::optional<THORName> OwnedName(size_t index);
  std::string Base64(size_t index);

  const std::string_view memo_;
  const std::vector<std::string_view> parts_;
  const TxType type_;
  MemoContext* const context_;
  const Network& network_;
  const int depth_;
  std::vector<std::string> errors_;
  size_t required_ = 0;
};

int64_t Parser::Int64(size_t index, Need need, int64_t fallback) {
  Count(need);
  const absl::StatusOr<int64_t> value = ParseGoInt64(Part(index));
  if (value.ok()) return *value;
  if (Matters(index, need)) {
    Note("cannot parse '", Part(index), "' as an int64: ", ErrorText(value));
  }
  return fallback;
}

Uint Parser::Number(size_t index, Need need, uint64_t fallback) {
  Count(need);
  const absl::StatusOr<Uint> value = Uint::Parse(Part(index));
  if (value.ok()) return *value;
  if (Matters(index, need)) {
    Note("cannot parse '", Part(index), "' as an uint: ", ErrorText(value));
  }
  return fallback;
}

Uint Parser::NumberUpTo(size_t index, Need need, uint64_t fallback, uint64_t maximum) {
  const Uint value = Number(index, need, fallback);
  if (value <= maximum) return value;
  if (Matters(index, need)) Note(Part(index), " cannot exceed '", maximum, "'");
  return maximum;
}

// "25e6" without a detour over floating point.
Uint Parser::ScientificNumber(size_t index) {
  constexpr int64_t kMaxExponent = 77;
  const std::string_view text = Part(index);
  if (text.empty()) return Uint();
  if (text.find_first_of("eE") == std::string_view::npos) {
    const absl::StatusOr<Uint> value = Uint::Parse(text);
    if (value.ok()) return *value;
    Note("cannot parse '", text, "' as an uint: ", ErrorText(value));
    return Uint();
  }
  const std::string lower = ToLower(text);
  const std::vector<std::string_view> halves = Split(lower, 'e');
  if (halves.size() != 2) {
    Note("cannot parse '", text, "' as scientific notation");
    return Uint();
  }
  const absl::StatusOr<Uint> coefficient = Uint::Parse(halves[0]);
  if (!coefficient.ok()) {
    Note("cannot parse coefficient '", halves[0],
         "' in scientific notation: ", ErrorText(coefficient));
    return Uint();
  }
  const absl::StatusOr<int64_t> exponent = ParseGoInt64(halves[1]);
  if (!exponent.ok()) {
    Note("cannot parse exponent '", halves[1], "' in scientific notation: ", ErrorText(exponent));
    return Uint();
  }
  if (*exponent < 0) {
    Note("the memo parser does not support fractional values: ", text);
    return Uint();
  }
  if (*exponent > kMaxExponent) {
    Note("exponent ", *exponent, " exceeds maximum allowed value of ", kMaxExponent, ": ", text);
    return Uint();
  }
  Uint multiplier = 1;
  for (int64_t i = 0; i < *exponent; ++i) multiplier *= 10;
  if (*coefficient > Uint::Max() / multiplier) {
    Note("coefficient ", coefficient->ToString(), " would cause overflow when multiplied by 10^",
         *exponent, ": ", text);
    return Uint();
  }
  return *coefficient * multiplier;
}

std::vector<std::string> Parser::Texts(size_t index) const {
  std::vector<std::string> texts;
  if (Part(index).empty()) return texts;
  for (const std::string_view text : Split(Part(index), '/')) texts.emplace_back(text);
  return texts;
}

// All or none.
std::vector<Uint> Parser::Numbers(size_t index) {
  std::vector<Uint> numbers;
  if (Part(index).empty()) return numbers;
  for (const std::string_view text : Split(Part(index), '/')) {
    const absl::StatusOr<Uint> value = Uint::Parse(text);
    if (!value.ok()) {
      if (!text.empty()) Note("cannot parse '", text, "' as an uint: ", ErrorText(value));
      return {};
    }
    numbers.push_back(*value);
  }
  return numbers;
}

// cosmos-sdk's wrapped errors, formatted into another error, tell where they were made.
std::string_view SourceOf(std::string_view account_error) {
  if (!account_error.ends_with(": unknown address")) return "";
  return account_error.starts_with("addresses cannot be empty")
             ? " [cosmos/cosmos-sdk@v0.53.0/types/address.go:173]"
             : " [cosmos/cosmos-sdk@v0.53.0/types/address.go:177]";
}

AccAddress Parser::Account(size_t index, Need need) {
  Count(need);
  absl::StatusOr<AccAddress> value = AccAddress::FromBech32(Part(index), network_);
  if (value.ok()) return *std::move(value);
  if (Matters(index, need)) {
    Note("cannot parse '", Part(index), "' as an AccAddress: ", ErrorText(value),
         SourceOf(ErrorText(value)));
  }
  return AccAddress();
}

Address Parser::PlainAddress(size_t index, Need need) {
  Count(need);
  absl::StatusOr<Address> value = Address::Parse(Part(index), network_);
  if (value.ok()) return *std::move(value);
  if (Matters(index, need)) {
    Note("cannot parse '", Part(index), "' as an Address: ", ErrorText(value));
  }
  return Address();
}

Address Parser::ThorAddress(size_t index) {
  Count(kRequired);
  absl::StatusOr<Address> value = Address::Parse(Part(index), network_);
  if (!value.ok()) {
    Note("cannot parse '", Part(index), "' as an Address: ", ErrorText(value));
    return Address();
  }
  if (!value->IsChain(chains::kTHOR)) {
    // The node formats an error that it doesn't have.
    Note("cannot parse '", Part(index), "' as a THOR Address: %!w(<nil>)");
    return Address();
  }
  return *std::move(value);
}

// An address, or a name that has one on that chain.
Address Parser::ResolveAddress(std::string_view text, const Chain& chain) {
  absl::StatusOr<Address> value = FetchAddress(*context_, text, chain, network_);
  if (value.ok()) return *std::move(value);
  if (!text.empty()) Note("cannot parse '", text, "' as an Address: ", ErrorText(value));
  return Address();
}

Address Parser::NamedAddress(size_t index, const Chain& chain) {
  if (context_ == nullptr) return PlainAddress(index, kOptional);
  return ResolveAddress(Part(index), chain);
}

// "<destination>/<refund address>"; the latter is dropped if it isn't one.
std::pair<Address, Address> Parser::AddressAndRefund(size_t index, const Chain& chain) {
  std::pair<Address, Address> result;
  const std::vector<std::string_view> halves = Split(Part(index), '/', 2);
  if (halves.size() == 1) {
    result.first = NamedAddress(index, chain);
  } else {
    result.first = ResolveAddress(halves[0], chain);
    absl::StatusOr<Address> refund = Address::Parse(halves[1], network_);
    if (refund.ok()) result.second = *std::move(refund);
  }
  if (result.first.IsEmpty() && !result.second.IsEmpty()) {
    Note("refund address is set but destination address is empty");
  }
  return result;
}

Chain Parser::ChainId(size_t index) {
  Count(kRequired);
  absl::StatusOr<Chain> value = Chain::Parse(Part(index));
  if (value.ok()) return *std::move(value);
  Note("cannot parse '", Part(index), "' as a chain: ", ErrorText(value));
  return Chain();
}

Asset Parser::AssetName(size_t index, Need need) {
  Count(need);
  absl::StatusOr<Asset> value = Asset::ParseWithShortCodes(Part(index));
  if (value.ok()) return *std::move(value);
  if (Matters(index, need)) {
    Note("cannot parse '", Part(index), "' as an asset: ", ErrorText(value));
  }
  return Asset();
}

// "<amount><asset>".
Coin Parser::CoinText(size_t index) {
  Count(kRequired);
  const std::string_view text = Part(index);
  // Bank denominations, which the other branch reads, don't have these characters.
  if (text.find_first_of("~/-") != std::string_view::npos) {
    const size_t digits = text.find_first_not_of("0123456789");
    if (digits == 0 || digits == std::string_view::npos) {
      Note("cannot parse '", text, "' as coin: invalid format");
      return Coin();
    }
    absl::StatusOr<Coin> coin =
        Coin::Parse(StrCat(text.substr(0, digits), " ", text.substr(digits)));
    if (coin.ok()) return *std::move(coin);
    Note("cannot parse '", text, "' as coin: ", ErrorText(coin));
    return Coin();
  }
  const absl::StatusOr<std::vector<BankCoin>> coins = ParseBankCoins(text);
  if (!coins.ok()) {
    Note("cannot parse '", text, "' as coins: ", ErrorText(coins));
    return Coin();
  }
  if (coins->size() != 1) {
    Note("expected exactly one coin, got ", coins->size());
    return Coin();
  }
  const BankCoin& coin = coins->front();
  absl::StatusOr<Asset> asset = Asset::ParseWithShortCodes(coin.denom);
  if (!asset.ok()) {
    Note("cannot parse denom '", coin.denom, "' as asset: ", ErrorText(asset));
    return Coin();
  }
  return Coin(*std::move(asset), coin.amount);
}

TxID Parser::Hash(size_t index) {
  Count(kRequired);
  absl::StatusOr<TxID> value = TxID::Parse(Part(index));
  if (value.ok()) return *std::move(value);
  Note("cannot parse '", Part(index), "' as tx hash: ", ErrorText(value));
  return TxID(kBlankTxID);
}

// The registered name that the whole field is, if it has an owner.
std::optional<THORName> Parser::OwnedName(size_t index) {
  if (context_ == nullptr || !context_->THORNameExists(Part(index))) return std::nullopt;
  absl::StatusOr<THORName> name = context_->GetTHORName(Part(index));
  if (!name.ok()) {
    if (!Part(index).empty()) {
      Note("cannot parse '", Part(index), "' as a THORName: ", ErrorText(name));
    }
    return std::nullopt;
  }
  if (name->owner.IsEmpty()) return std::nullopt;
  return *std::move(name);
}

std::string Parser::Base64(size_t index) {
  Count(kRequired);
  absl::StatusOr<std::string> value = DecodeGoBase64(Part(index));
  if (value.ok()) return *std::move(value);
  Note("cannot parse '", Part(index), "' as a base64 string: ", ErrorText(value));
  return "";
}

MemoResult Parser::ParseKind() {
  switch (type_) {
    case TxType::kSwap:
    case TxType::kLimitSwap:
      return context_ == nullptr ? ParseSwapWithoutState() : ParseSwap();
    case TxType::kAdd:
      return context_ == nullptr ? ParseAddLiquidityWithoutState() : ParseAddLiquidity();
    case TxType::kReferenceWriteMemo:
      return ParseReferenceWrite();
    case TxType::kReferenceReadMemo:
      return ParseReferenceRead();
    case TxType::kWithdraw: {
      WithdrawLiquidityMemo memo;
      Asset asset = AssetName(1, kRequired);
      memo.basis_points = NumberUpTo(2, kOptional, kMaxBasisPoints, kMaxBasisPoints);
      memo.withdrawal_asset = AssetName(3, kOptional);
      return Done(std::move(memo), std::move(asset));
    }
    case TxType::kModifyLimitSwap: {
      ModifyLimitSwapMemo memo;
      memo.source = CoinText(1);
      memo.target = CoinText(2);
      memo.modified_target_amount = Number(3, kRequired, 0);
      return Done(std::move(memo));
    }
    case TxType::kOutbound:
      return Done(OutboundMemo{Hash(1)});
    case TxType::kRefund:
      return Done(RefundMemo{Hash(1)});
    case TxType::kDonate: {
      Asset asset = AssetName(1, kRequired);
      return Done(DonateMemo{}, std::move(asset));
    }
    case TxType::kBond: {
      BondMemo memo;
      memo.node_address = Account(1, kRequired);
      memo.bond_provider_address = Account(2, kOptional);
      memo.node_operator_fee = Int64(3, kOptional, -1);
      return Done(std::move(memo));
    }
    case TxType::kUnbond: {
      UnbondMemo memo;
      memo.node_address = Account(1, kRequired);
      memo.amount = Number(2, kRequired, 0);
      memo.bond_provider_address = Account(3, kOptional);
      return Done(std::move(memo));
    }
    case TxType::kRebond: {
      RebondMemo memo;
      memo.node_address = Account(1, kRequired);
      memo.new_bond_provider_address = Account(2, kRequired);
      memo.amount = Number(3, kOptional, 0);
      return Done(std::move(memo));
    }
    case TxType::kLeave:
      return Done(LeaveMemo{Account(1, kRequired)});
    case TxType::kMaint:
      return Done(MaintMemo{Account(1, kRequired)});
    case TxType::kOperatorRotate:
      return Done(OperatorRotateMemo{Account(1, kRequired)});
    case TxType::kReserve:
      return Done(ReserveMemo{});
    case TxType::kMigrate:
      return Done(MigrateMemo{Int64(1, kRequired, 0)});
    case TxType::kRagnarok:
      return Done(RagnarokMemo{Int64(1, kRequired, 0)});
    case TxType::kNoOp:
      return Done(NoOpMemo{std::string(Part(1))});
    case TxType::kConsolidate:
      return Done(ConsolidateMemo{});
    case TxType::kTHORName: {
      ManageTHORNameMemo memo;
      memo.name = Part(1);
      memo.chain = ChainId(2);
      memo.address = PlainAddress(3, kRequired);
      memo.owner = Account(4, kOptional);
      memo.preferred_asset = AssetName(5, kOptional);
      memo.expire = Int64(6, kOptional, 0);
      memo.preferred_asset_outbound_fee_multiplier = Int64(7, kOptional, -1);
      return Done(std::move(memo));
    }
    case TxType::kTradeAccountDeposit:
      return Done(TradeAccountDepositMemo{Account(1, kRequired)});
    case TxType::kTradeAccountWithdrawal:
      return Done(TradeAccountWithdrawalMemo{PlainAddress(1, kRequired)});
    case TxType::kSecuredAssetDeposit:
      return Done(SecuredAssetDepositMemo{Account(1, kRequired)});
    case TxType::kSecuredAssetWithdraw:
      return Done(SecuredAssetWithdrawMemo{PlainAddress(1, kRequired)});
    case TxType::kRunePoolDeposit:
      return Done(RunePoolDepositMemo{});
    case TxType::kRunePoolWithdraw: {
      RunePoolWithdrawMemo memo;
      memo.basis_points = Number(1, kRequired, 0);
      memo.affiliate_address = NamedAddress(2, chains::kTHOR);
      memo.affiliate_name = OwnedName(2);
      memo.affiliate_basis_points = NumberUpTo(3, kOptional, 0, kMaxBasisPoints);
      return Done(std::move(memo));
    }
    case TxType::kExec: {
      ExecMemo memo;
      memo.contract_address = Account(1, kRequired);
      memo.message = Base64(2);
      return Done(std::move(memo));
    }
    case TxType::kSwitch:
      return Done(SwitchMemo{Account(1, kRequired)});
    case TxType::kTCYClaim:
      return Done(TCYClaimMemo{ThorAddress(1)});
    case TxType::kTCYStake:
      return Done(TCYStakeMemo{});
    case TxType::kTCYUnstake:
      return Done(TCYUnstakeMemo{Number(1, kRequired, 0)});
    case TxType::kUnknown:
      break;
  }
  return Failed(std::monostate(), Error("TxType not supported: ", ToString(type_)));
}

MemoResult Parser::ParseSwap() {
  const auto failed = [](const auto&... pieces) { return Failed(SwapMemo{}, Error(pieces...)); };
  SwapMemo swap;
  Asset asset = AssetName(1, kRequired);
  // Without a destination the sender gets it.
  std::tie(swap.destination, swap.refund_address) = AddressAndRefund(2, asset.chain);

  const std::string_view limit = Part(3);
  if (limit.find('/') == std::string_view::npos) {
    swap.slip_limit = ScientificNumber(3);
  } else {
    // "<limit>/<interval>/<quantity>", each may be empty.
    std::array<std::string_view, 3> fields{"0", "0", "0"};
    const std::vector<std::string_view> given = Split(limit, '/', 3);
    for (size_t i = 0; i < given.size(); ++i) {
      if (!given[i].empty()) fields[i] = given[i];
    }
    const absl::StatusOr<Uint> target = ParseTradeTarget(fields[0]);
    if (!target.ok()) {
      return failed("swap price limit:", fields[0], " is invalid: ", ErrorText(target));
    }
    swap.slip_limit = *target;
    const absl::StatusOr<uint64_t> interval = ParseGoUint64(fields[1]);
    if (!interval.ok()) {
      return failed("failed to parse stream frequency: ", fields[1], ": ", ErrorText(interval));
    }
    swap.stream_interval = *interval;
    const absl::StatusOr<uint64_t> quantity = ParseGoUint64(fields[2]);
    if (!quantity.ok()) {
      return failed("failed to parse stream quantity: ", fields[2], ": ", ErrorText(quantity));
    }
    swap.stream_quantity = *quantity;
  }
  // A limit swap without a limit is a market swap.
  if (type_ == TxType::kLimitSwap && !swap.slip_limit.IsZero()) swap.swap_type = SwapType::limit;

  swap.affiliates = Texts(4);
  swap.affiliates_basis_points = Numbers(5);
  if (swap.affiliates_basis_points.size() == 1 && swap.affiliates.size() > 1) {
    // One fee for all of them.
    const Uint fee = NumberUpTo(5, kOptional, 0, kMaxBasisPoints);
    swap.affiliates_basis_points.assign(swap.affiliates.size(), fee);
  }
  if (swap.affiliates.size() != swap.affiliates_basis_points.size()) {
    return failed("affiliate thornames and affiliate fee bps count mismatch");
  }
  const int64_t max_affiliates =
      std::max<int64_t>(0, context_->GetConfigInt64(ConstantName::kMultipleAffiliatesMaxCount));
  if (swap.affiliates.size() > static_cast<uint64_t>(max_affiliates)) {
    return failed("maximum allowed affiliates is ", max_affiliates);
  }
  swap.affiliate_basis_points = Sum(swap.affiliates_basis_points);
  if (swap.affiliate_basis_points > kMaxBasisPoints) {
    return failed("total affiliate fee basis points can't be more than ", kMaxBasisPoints);
  }
  if (!swap.affiliate_basis_points.IsZero() && !swap.affiliates.empty()) {
    swap.affiliate_address = ResolveAddress(swap.affiliates[0], chains::kTHOR);
  }
  swap.affiliate_name = OwnedName(4);

  swap.dex_aggregator = Part(6);
  swap.dex_target_address = Part(7);
  const Uint dex_target_limit = ScientificNumber(8);
  if (!dex_target_limit.IsZero()) swap.dex_target_limit = dex_target_limit;
  return DoneAs(TxType::kSwap, std::move(swap), std::move(asset));
}

MemoResult Parser::ParseSwapWithoutState() {
  Asset asset = AssetName(1, kRequired);
  SwapMemo swap;
  if (parts_.size() < 2) return Failed(swap, Error("not enough parameters"));
  if (!Part(2).empty()) {
    absl::StatusOr<Address> destination = Address::Parse(Part(2), network_);
    if (!destination.ok()) return Failed(SwapMemo{}, destination.status());
    swap.destination = *std::move(destination);
  }
  if (!Part(3).empty()) {
    const absl::StatusOr<Uint> limit = Uint::Parse(Part(3));
    if (!limit.ok()) {
      return Failed(SwapMemo{}, Error("swap price limit:", Part(3), " is invalid"));
    }
    swap.slip_limit = *limit;
  }
  if (!Part(4).empty() && !Part(5).empty()) {
    absl::StatusOr<Address> affiliate = Address::Parse(Part(4), network_);
    if (!affiliate.ok()) return Failed(SwapMemo{}, affiliate.status());
    const absl::StatusOr<uint64_t> fee = ParseGoUint64(Part(5));
    if (!fee.ok()) return Failed(SwapMemo{}, fee.status());
    swap.affiliate_address = *std::move(affiliate);
    swap.affiliate_basis_points = *fee;
  }
  return DoneAs(TxType::kSwap, std::move(swap), std::move(asset));
}

MemoResult Parser::ParseAddLiquidity() {
  AddLiquidityMemo add;
  Asset asset = AssetName(1, kRequired);
  add.address = NamedAddress(2, asset.chain);
  // Who adds to savers is paid on the chain of the asset.
  const Chain affiliate_chain = asset.synth ? asset.chain : chains::kTHOR;
  add.affiliate_address = NamedAddress(3, affiliate_chain);
  add.affiliate_basis_points = NumberUpTo(4, kOptional, 0, kMaxBasisPoints);
  return Done(std::move(add), std::move(asset));
}

MemoResult Parser::ParseAddLiquidityWithoutState() {
  Asset asset = AssetName(1, kRequired);
  AddLiquidityMemo add;
  if (!Part(2).empty()) {
    absl::StatusOr<Address> address = Address::Parse(Part(2), network_);
    if (!address.ok()) return Failed(AddLiquidityMemo{}, address.status());
    add.address = *std::move(address);
  }
  if (!Part(3).empty() && !Part(4).empty()) {
    absl::StatusOr<Address> affiliate = Address::Parse(Part(3), network_);
    if (!affiliate.ok()) return Failed(AddLiquidityMemo{}, affiliate.status());
    const absl::StatusOr<uint64_t> fee = ParseGoUint64(Part(4));
    if (!fee.ok()) return Failed(AddLiquidityMemo{}, fee.status());
    add.affiliate_address = *std::move(affiliate);
    add.affiliate_basis_points = *fee;
  }
  return Done(std::move(add), std::move(asset));
}

MemoResult Parser::ParseReferenceWrite() {
  Asset asset = AssetName(1, kRequired);
  const std::vector<std::string_view> parts = Split(memo_, ':', 3);
  const std::string_view embedded = parts.size() > 2 ? parts[2] : std::string_view();
  if (embedded.empty()) return Failed(ReferenceWriteMemo{}, Error("memo cannot be blank"));
  absl::Status status;
  if (context_ == nullptr) {
    // The node follows a null pointer here, and recovers.
    status = Error("panicked parsing memo(", embedded,
                   "), err: runtime error: invalid memory address or nil pointer dereference");
  } else {
    status = ParseAtDepth(embedded, context_, network_, depth_ + 1).status;
  }
  if (!status.ok()) {
    return Failed(ReferenceWriteMemo{}, Error("embedded memo is invalid: ", Message(status)));
  }
  return Done(ReferenceWriteMemo{std::string(embedded)}, std::move(asset));
}

MemoResult Parser::ParseReferenceRead() {
  if (parts_.size() < 2) return Done(ReferenceReadMemo{});
  Count(kRequired);
  if (Part(1).empty()) {
    Note("reference parameter is required when ':' is present");
    Note("cannot parse '' as a string");
  }
  return Done(ReferenceReadMemo{std::string(Part(1))});
}

MemoResult ParseAtDepth(std::string_view memo, MemoContext* context, const Network& network,
                        int depth) {
  MemoResult result;
  try {
    if (depth > kMaxDepth) {
      result.status = Error("memo is nested too deeply");
      return result;
    }
    if (memo.empty()) {
      result.status = Error("memo can't be empty");
      return result;
    }
    const std::string_view first = memo.substr(0, memo.find('|'));
    const absl::StatusOr<TxType> type = ParseTxType(first.substr(0, first.find(':')));
    if (!type.ok()) {
      result.status = type.status();
      return result;
    }
    return Parser(first, *type, context, network, depth).Parse();
  } catch (const Panic& panic) {
    // The node recovers here.
    result = MemoResult();
    result.status = Error("panicked parsing memo(", memo, "), err: ", panic.message());
    return result;
  }
}

}  // namespace

MemoResult ParseMemo(std::string_view memo, MemoContext& context, const Network& network) {
  return ParseAtDepth(memo, &context, network, 0);
}

MemoResult ParseMemoWithoutState(std::string_view memo, const Network& network) {
  return ParseAtDepth(memo, nullptr, network, 0);
}

absl::StatusOr<Address> FetchAddress(MemoContext& context, std::string_view name,
                                     const Chain& chain, const Network& network) {
  absl::StatusOr<Address> address = Address::Parse(name, network);
  if (address.ok()) return address;
  const std::vector<std::string_view> parts = Split(name, '.', 2);
  Chain alias_chain = chain;
  if (parts.size() > 1) {
    absl::StatusOr<Chain> given = Chain::Parse(parts[1]);
    if (!given.ok()) return given.status();
    alias_chain = *std::move(given);
  }
  if (!context.THORNameExists(parts[0])) return Error(name, " is not recognizable");
  const absl::StatusOr<THORName> record = context.GetTHORName(parts[0]);
  if (!record.ok()) return record.status();
  for (const THORNameAlias& alias : record->aliases) {
    if (alias.chain == alias_chain) return alias.address;
  }
  return Address();
}

}  // namespace blockreplay::keeper::thorchain
