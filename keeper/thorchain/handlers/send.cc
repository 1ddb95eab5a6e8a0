#include "keeper/thorchain/handlers/send.h"

#include <optional>

#include "keeper/thorchain/handlers/deposit.h"
#include "keeper/thorchain/state/funds.h"
#include "keeper/thorchain/state/mimir.h"

namespace blockreplay::keeper::thorchain {
namespace {

// Coins may be zero here, unlike in a send proper: a deposit can have none.
Error ValidateSendBasic(const Keeper& k, const MsgSend& message) {
  for (const AccAddress& address : {message.from_address, message.to_address}) {
    if (!IsValidAccAddress(address)) {
      return Error(sdk::kErrInvalidAddress, address.ToString(k.network()));
    }
  }
  for (const sdk::Coin& coin : message.amount) {
    if (!sdk::IsValidDenom(coin.denom) || coin.amount.IsNegative()) {
      return Error(sdk::kErrInvalidCoins, "coins must be valid");
    }
  }
  return {};
}

Result<MsgDeposit> ToDeposit(const Context& ctx, const MsgSend& message) {
  MsgDeposit deposit;
  if (ctx.tx_memo() != nullptr) deposit.memo = *ctx.tx_memo();
  deposit.signer = message.from_address;
  for (const sdk::Coin& coin : message.amount) {
    std::string_view denom = coin.denom;
    if (denom.starts_with("x/")) denom.remove_prefix(2);
    absl::StatusOr<Asset> asset = Asset::Parse(denom);
    if (!asset.ok()) return Error::New(std::string(asset.status().message()));
    deposit.coins.emplace_back(*std::move(asset), Uint::FromLimbs(coin.amount.Limbs()));
  }
  return deposit;
}

Error ValidateSend(Managers& mgr, const Context& ctx, const MsgSend& message) {
  const Keeper& k = *mgr.keeper;
  KEEPER_RETURN_IF_ERROR(ValidateSendBasic(k, message));
  if (IsDepositSend(k, message)) {
    KEEPER_ASSIGN_OR_RETURN(const MsgDeposit deposit, ToDeposit(ctx, message));
    return ValidateDeposit(mgr, ctx, deposit);
  }
  if (IsModuleAccAddress(k, message.to_address)) {
    return Error::New("cannot use MsgSend for Module transactions, use MsgDeposit instead");
  }
  if (!sdk::IsValid(message.amount)) return Error(sdk::kErrInvalidCoins, "coins must be valid");
  return {};
}

Error RunSend(Managers& mgr, const Context& ctx, const MsgSend& message) {
  const Keeper& k = *mgr.keeper;
  if (IsChainHalted(k, ctx, chains::kTHOR)) {
    return Error::New("unable to use MsgSend while THORChain is halted");
  }
  if (IsDepositSend(k, message)) {
    KEEPER_ASSIGN_OR_RETURN(const MsgDeposit deposit, ToDeposit(ctx, message));
    return RunDeposit(mgr, ctx, deposit);
  }
  return k.bank->SendCoins(ctx, message.from_address.bytes(), message.to_address.bytes(),
                           message.amount);
}

class SendHandler : public Handler<MsgSend> {
 public:
  explicit SendHandler(Managers* managers) : Handler("/types.MsgSend", managers) {}

 protected:
  Error ValidateBasic(const MsgSend& message) const override {
    return ValidateSendBasic(k(), message);
  }
  std::vector<AccAddress> GetSigners(const MsgSend& message) const override {
    return {message.from_address};
  }
  Error Ante(const Context& ctx, const MsgSend& message) const override {
    return DeductNativeTxFee(k(), ctx, message.from_address);
  }
  Error Validate(const Context& ctx, const MsgSend& message) const override {
    return ValidateSend(mgr(), ctx, message);
  }
  Error Run(const Context& ctx, const MsgSend& message) const override {
    return RunSend(mgr(), ctx, message);
  }
  std::string_view ExclusiveGroup(const MsgSend& message) const override {
    return IsDepositSend(k(), message) ? kDepositGroup : std::string_view();
  }
};

// The bank's message: addresses are text.
struct BankMsgSend {
  std::string from_address;
  std::string to_address;
  sdk::Coins amount;
};

class BankSendHandler : public sdk::TypedMessageHandler<BankMsgSend> {
 public:
  explicit BankSendHandler(Managers* managers) : mgr_(managers) {}
  std::string_view type_url() const override { return "/cosmos.bank.v1beta1.MsgSend"; }
  sdk::Any Response() const override { return {"/cosmos.bank.v1beta1.MsgSendResponse", ""}; }

 protected:
  bool DecodeMessage(std::string_view bytes, BankMsgSend* message) const override {
    sdk::WireReader r(bytes);
    while (!r.AtEnd()) {
      uint32_t number = 0;
      sdk::WireType type{};
      if (!r.Tag(&number, &type)) return false;
      const bool read = number == 1   ? ReadText(&r, type, &message->from_address)
                        : number == 2 ? ReadText(&r, type, &message->to_address)
                        : number == 3 ? ReadRepeatedMessage(&r, type, &message->amount)
                                      : r.Skip(number, type);
      if (!read) return false;
    }
    return true;
  }
  // The SDK's message has no stateless checks of its own.
  Error ValidateBasic(const BankMsgSend&) const override { return {}; }
  Result<std::vector<std::string>> Signers(const BankMsgSend& message) const override {
    KEEPER_ASSIGN_OR_RETURN(std::string from,
                            mgr_->keeper->addresses->ToBytes(message.from_address));
    return std::vector<std::string>{std::move(from)};
  }
  Error Ante(const Context& ctx, const BankMsgSend& message) const override {
    if (GetConfigInt64(*mgr_->keeper, ctx, ConstantName::kBankSendEnabled) <= 0) {
      return Error(sdk::kErrUnknownRequest, "bank sends are disabled");
    }
    KEEPER_ASSIGN_OR_RETURN(const MsgSend send, Convert(message));
    return DeductNativeTxFee(*mgr_->keeper, ctx, send.from_address);
  }
  Error Handle(const Context& ctx, const BankMsgSend& message) const override {
    KEEPER_ASSIGN_OR_RETURN(const MsgSend send, Convert(message));
    KEEPER_RETURN_IF_ERROR(ValidateSend(*mgr_, ctx, send));
    return RunSend(*mgr_, ctx, send);
  }
  std::string_view ExclusiveGroup(const BankMsgSend& message) const override {
    const sdk::AuthKeeper& auth = *mgr_->keeper->auth;
    return message.to_address == auth.addresses().ToText(auth.ModuleAddress(kThorchainModule))
               ? kDepositGroup
               : std::string_view();
  }

 private:
  Result<MsgSend> Convert(const BankMsgSend& message) const {
    sdk::AddressCodec& addresses = *mgr_->keeper->addresses;
    Result<std::string> from = addresses.ToBytes(message.from_address);
    if (!from.ok()) {
      return Error::New(sdk::StrCat("fail to parse from address: ", message.from_address));
    }
    Result<std::string> to = addresses.ToBytes(message.to_address);
    if (!to.ok()) {
      return Error::New(sdk::StrCat("fail to parse to address: ", message.to_address));
    }
    MsgSend send;
    send.from_address = AccAddress(*std::move(from));
    send.to_address = AccAddress(*std::move(to));
    send.amount = message.amount;
    return send;
  }

  Managers* mgr_;
};

// An account's part in a message with many.
struct BankShare {
  std::string address;
  sdk::Coins coins;
};

bool DecodeFields(std::string_view bytes, BankShare* share) {
  sdk::WireReader r(bytes);
  while (!r.AtEnd()) {
    uint32_t number = 0;
    sdk::WireType type{};
    if (!r.Tag(&number, &type)) return false;
    const bool read = number == 1   ? ReadText(&r, type, &share->address)
                      : number == 2 ? ReadRepeatedMessage(&r, type, &share->coins)
                                    : r.Skip(number, type);
    if (!read) return false;
  }
  return true;
}

struct BankMsgMultiSend {
  std::vector<BankShare> inputs;
  std::vector<BankShare> outputs;
};

// A message that the ante chain refuses.
class BankMultiSendHandler : public sdk::TypedMessageHandler<BankMsgMultiSend> {
 public:
  explicit BankMultiSendHandler(Managers* managers) : mgr_(managers) {}
  std::string_view type_url() const override { return "/cosmos.bank.v1beta1.MsgMultiSend"; }
  sdk::Any Response() const override { return {"/cosmos.bank.v1beta1.MsgMultiSendResponse", ""}; }

 protected:
  bool DecodeMessage(std::string_view bytes, BankMsgMultiSend* message) const override {
    sdk::WireReader r(bytes);
    while (!r.AtEnd()) {
      uint32_t number = 0;
      sdk::WireType type{};
      if (!r.Tag(&number, &type)) return false;
      const bool read = number == 1   ? ReadRepeatedMessage(&r, type, &message->inputs)
                        : number == 2 ? ReadRepeatedMessage(&r, type, &message->outputs)
                                      : r.Skip(number, type);
      if (!read) return false;
    }
    return true;
  }
  Error ValidateBasic(const BankMsgMultiSend&) const override { return {}; }
  Result<std::vector<std::string>> Signers(const BankMsgMultiSend& message) const override {
    std::vector<std::string> signers;
    for (const BankShare& input : message.inputs) {
      KEEPER_ASSIGN_OR_RETURN(std::string signer, mgr_->keeper->addresses->ToBytes(input.address));
      signers.push_back(std::move(signer));
    }
    return signers;
  }
  Error Ante(const Context&, const BankMsgMultiSend&) const override {
    return Error(sdk::kErrUnknownRequest, "invalid message type");
  }
  Error Handle(const Context&, const BankMsgMultiSend&) const override {
    throw sdk::NotNative("MsgMultiSend");
  }

 private:
  Managers* mgr_;
};

}  // namespace

bool IsDepositSend(const Keeper& k, const MsgSend& message) {
  return message.to_address.bytes() == k.auth->ModuleAddress(kThorchainModule);
}

std::unique_ptr<sdk::MessageHandler> NewSendHandler(Managers* managers) {
  return std::make_unique<SendHandler>(managers);
}

std::unique_ptr<sdk::MessageHandler> NewBankSendHandler(Managers* managers) {
  return std::make_unique<BankSendHandler>(managers);
}

std::unique_ptr<sdk::MessageHandler> NewBankMultiSendHandler(Managers* managers) {
  return std::make_unique<BankMultiSendHandler>(managers);
}

}  // namespace blockreplay::keeper::thorchain
