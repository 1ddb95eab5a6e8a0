#include "keeper/thorchain/handlers/refused.h"

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cosmos/auth/v1beta1/auth.pb.h"
#include "cosmos/bank/v1beta1/bank.pb.h"
#include "cosmos/consensus/v1/consensus.pb.h"
#include "cosmos/mint/v1beta1/mint.pb.h"
#include "cosmos/upgrade/v1beta1/upgrade.pb.h"
#include "cosmwasm/wasm/v1/wasm.pb.h"
#include "keeper/sdk/int.h"
#include "keeper/thorchain/handlers/internal.h"
#include "keeper/thorchain/message_codec.h"
#include "thorchain/denom/v1/denom.pb.h"
#include "thorchain/scheduler/v1/scheduler.pb.h"

namespace blockreplay::keeper::thorchain {
namespace {

using ::cosmos::bank::v1beta1::DenomUnit;
using ::cosmos::bank::v1beta1::Metadata;
using ::thorchain::denom::v1::MsgBurnTokens;
using ::thorchain::denom::v1::MsgChangeDenomAdmin;
using ::thorchain::denom::v1::MsgCreateDenom;
using ::thorchain::denom::v1::MsgMintTokens;
using ::thorchain::scheduler::v1::MsgScheduleExecuteContract;
using BankCoinMessage = ::cosmos::base::v1beta1::Coin;

constexpr sdk::ErrorCode kErrInvalidDenom{"denom", 3, "invalid denom"};
constexpr sdk::ErrorCode kErrInvalidMetadata{"denom", 6, "invalid metadata"};
constexpr std::string_view kDenomPrefix = "x/";

// ---- Stateless checks. ----

Error CheckAddress(const Keeper& k, std::string_view what, const std::string& text) {
  const Result<std::string> address = k.addresses->ToBytes(text);
  if (address.ok()) return {};
  return Error(sdk::kErrInvalidAddress,
               sdk::StrCat("Invalid ", what, " (", address.error().message(), ")"));
}
Error CheckDenom(const std::string& denom) {
  return sdk::IsValidDenom(denom) ? Error() : Error::New("invalid denom: " + denom);
}
Error CheckCoin(const BankCoinMessage& coin) {
  const bool valid = sdk::IsValidDenom(coin.denom()) && !coin.amount().empty() &&
                     !sdk::Int::Unmarshal(coin.amount())->IsNegative();
  return valid ? Error() : Error(sdk::kErrInvalidCoins, coin.amount() + coin.denom());
}

Error CheckUnit(const DenomUnit& unit) {
  if (Error error = CheckDenom(unit.denom()); error) {
    return Error::Opaque("invalid denom unit", error);
  }
  std::set<std::string> seen;
  for (const std::string& alias : unit.aliases()) {
    if (!seen.insert(alias).second) {
      return Error::New("duplicate denomination unit alias " + alias);
    }
    if (IsBlank(alias)) {
      return Error::New(sdk::StrCat("alias for denom unit ", unit.denom(), " cannot be blank"));
    }
  }
  return {};
}

Error CheckMetadata(const Metadata& m) {
  if (IsBlank(m.name())) return Error::New("name field cannot be blank");
  if (IsBlank(m.symbol())) return Error::New("symbol field cannot be blank");
  if (Error error = CheckDenom(m.base()); error) {
    return Error::Opaque("invalid metadata base denom", error);
  }
  if (Error error = CheckDenom(m.display()); error) {
    return Error::Opaque("invalid metadata display denom", error);
  }
  bool has_display = false;
  uint32_t exponent = 0;
  std::set<std::string> seen;
  for (const DenomUnit& unit : m.denom_units()) {
    if (&unit == &m.denom_units(0)) {
      if (unit.denom() != m.base()) {
        return Error::New(sdk::StrCat(
            "metadata's first denomination unit must be the one with base denom '", m.base(), "'"));
      }
      if (unit.exponent() != 0) {
        return Error::New(
            sdk::StrCat("the exponent for base denomination unit ", m.base(), " must be 0"));
      }
    } else if (exponent >= unit.exponent()) {
      return Error::New("denom units should be sorted asc by exponent");
    }
    exponent = unit.exponent();
    if (seen.contains(unit.denom())) {
      return Error::New("duplicate denomination unit " + unit.denom());
    }
    has_display = has_display || unit.denom() == m.display();
    KEEPER_RETURN_IF_ERROR(CheckUnit(unit));
    seen.insert(unit.denom());
  }
  if (has_display) return {};
  return Error::New(sdk::StrCat("metadata must contain a denomination unit with display denom '",
                                m.display(), "'"));
}

Error Check(const Keeper& k, const MsgCreateDenom& m) {
  KEEPER_RETURN_IF_ERROR(CheckAddress(k, "sender address", m.sender()));
  if (Error error = CheckDenom(sdk::StrCat(kDenomPrefix, m.id())); error) {
    return Error(kErrInvalidDenom, error.message());
  }
  if (Error error = CheckMetadata(m.metadata()); error) {
    return Error(kErrInvalidMetadata, error.message());
  }
  return {};
}
Error Check(const Keeper& k, const MsgMintTokens& m) {
  KEEPER_RETURN_IF_ERROR(CheckAddress(k, "sender address", m.sender()));
  KEEPER_RETURN_IF_ERROR(CheckAddress(k, "recipient address", m.recipient()));
  return CheckCoin(m.amount());
}
Error Check(const Keeper& k, const MsgBurnTokens& m) {
  KEEPER_RETURN_IF_ERROR(CheckAddress(k, "sender address", m.sender()));
  return CheckCoin(m.amount());
}
Error Check(const Keeper& k, const MsgChangeDenomAdmin& m) {
  KEEPER_RETURN_IF_ERROR(CheckAddress(k, "sender address", m.sender()));
  KEEPER_RETURN_IF_ERROR(CheckAddress(k, "address", m.newadmin()));
  KEEPER_RETURN_IF_ERROR(CheckDenom(m.denom()));
  if (m.denom().starts_with(kDenomPrefix)) return {};
  return Error(kErrInvalidDenom,
               sdk::StrCat("denom prefix is incorrect. Should be: ", kDenomPrefix));
}
Error Check(const Keeper& k, const MsgScheduleExecuteContract& m) {
  return CheckAddress(k, "sender address", m.sender());
}
// What the node makes from memos has checks; all else has none.
template <typename M>
Error Check(const Keeper& k, const M& m) {
  if constexpr (std::is_constructible_v<InternalMessage, const M&>) {
    return ValidateInternalMessage(k, m);
  } else {
    return {};
  }
}

// Who signs: the sender, or whom the module obeys.
template <typename M>
const std::string& Signer(const M& m) {
  if constexpr (requires { m.authority(); }) {
    return m.authority();
  } else {
    return m.sender();
  }
}

// A message of a module that obeys contracts or a government only. M is its generated class.
template <typename M>
class RefusedHandler : public sdk::TypedMessageHandler<M> {
 public:
  RefusedHandler(std::string_view type_url, Managers* managers)
      : type_url_(type_url), k_(*managers->keeper) {}

  std::string_view type_url() const override { return type_url_; }
  sdk::Any Response() const override { return {}; }

 protected:
  bool DecodeMessage(std::string_view bytes, M* message) const override {
    return ParseMessage(bytes, message);
  }
  Error ValidateBasic(const M& message) const override { return Check(k_, message); }
  Result<std::vector<std::string>> Signers(const M& message) const override {
    KEEPER_ASSIGN_OR_RETURN(std::string signer, k_.addresses->ToBytes(Signer(message)));
    return std::vector<std::string>{std::move(signer)};
  }
  Error Ante(const Context&, const M&) const override {
    return Error(sdk::kErrUnknownRequest, "invalid message type");
  }
  Error Handle(const Context&, const M&) const override {
    throw sdk::NotNative(std::string(type_url_));
  }

 private:
  std::string_view type_url_;
  const Keeper& k_;
};

// A message that is decoded and checked, but that no service takes. M is its record, or its
// generated class.
template <typename M>
class UnroutedHandler : public sdk::TypedMessageHandler<M> {
 public:
  UnroutedHandler(std::string_view type_url, Managers* managers)
      : type_url_(type_url), k_(*managers->keeper) {}

  std::string_view type_url() const override { return type_url_; }
  sdk::Any Response() const override { return {}; }

 protected:
  bool DecodeMessage(std::string_view bytes, M* message) const override {
    if constexpr (std::is_base_of_v<google::protobuf::Message, M>) {
      return ParseMessage(bytes, message);
    } else {
      return Decode(bytes, message);
    }
  }
  Error ValidateBasic(const M& message) const override { return Check(k_, message); }
  Result<std::vector<std::string>> Signers(const M&) const override {
    return std::vector<std::string>();
  }
  Error Ante(const Context&, const M&) const override { return {}; }
  Error Handle(const Context&, const M&) const override { return {}; }

 private:
  std::string_view type_url_;
  const Keeper& k_;
};

}  // namespace

void RegisterRefusedMessages(Managers* managers, sdk::MessageRouter* router) {
  const auto refuse = [&]<typename M>(std::string_view type_url, const M&) {
    router->Register(std::make_unique<RefusedHandler<M>>(type_url, managers));
  };
  refuse("/cosmos.auth.v1beta1.MsgUpdateParams", ::cosmos::auth::v1beta1::MsgUpdateParams());
  refuse("/cosmos.bank.v1beta1.MsgSetSendEnabled", ::cosmos::bank::v1beta1::MsgSetSendEnabled());
  refuse("/cosmos.bank.v1beta1.MsgUpdateParams", ::cosmos::bank::v1beta1::MsgUpdateParams());
  refuse("/cosmos.consensus.v1.MsgUpdateParams", ::cosmos::consensus::v1::MsgUpdateParams());
  refuse("/cosmos.upgrade.v1beta1.MsgCancelUpgrade",
         ::cosmos::upgrade::v1beta1::MsgCancelUpgrade());
  refuse("/cosmos.upgrade.v1beta1.MsgSoftwareUpgrade",
         ::cosmos::upgrade::v1beta1::MsgSoftwareUpgrade());
  refuse("/thorchain.denom.v1.MsgBurnTokens", MsgBurnTokens());
  refuse("/thorchain.denom.v1.MsgChangeDenomAdmin", MsgChangeDenomAdmin());
  refuse("/thorchain.denom.v1.MsgCreateDenom", MsgCreateDenom());
  refuse("/thorchain.denom.v1.MsgMintTokens", MsgMintTokens());
  refuse("/thorchain.scheduler.v1.MsgScheduleExecuteContract", MsgScheduleExecuteContract());

  const auto leave_unrouted = [&]<typename M>(std::string_view type_url, const M&) {
    router->RegisterUnrouted(std::make_unique<UnroutedHandler<M>>(type_url, managers));
  };
  leave_unrouted("/cosmos.mint.v1beta1.MsgUpdateParams",
                 ::cosmos::mint::v1beta1::MsgUpdateParams());
  leave_unrouted("/cosmwasm.wasm.v1.MsgIBCCloseChannel",
                 ::cosmwasm::wasm::v1::MsgIBCCloseChannel());
  leave_unrouted("/cosmwasm.wasm.v1.MsgIBCSend", ::cosmwasm::wasm::v1::MsgIBCSend());
  leave_unrouted("/thorchain.scheduler.v1.Schedule", ::thorchain::scheduler::v1::Schedule());
  leave_unrouted("/types.MsgSwap", MsgSwap());
  leave_unrouted("/types.MsgAddLiquidity", MsgAddLiquidity());
  leave_unrouted("/types.MsgWithdrawLiquidity", MsgWithdrawLiquidity());
  leave_unrouted("/types.MsgDonate", MsgDonate());
  leave_unrouted("/types.MsgBond", MsgBond());
  leave_unrouted("/types.MsgUnBond", MsgUnBond());
  leave_unrouted("/types.MsgLeave", MsgLeave());
  leave_unrouted("/types.MsgNoOp", MsgNoOp());
  leave_unrouted("/types.MsgOutboundTx", MsgOutboundTx());
  leave_unrouted("/types.MsgReserveContributor", MsgReserveContributor());
  leave_unrouted("/types.MsgMigrate", MsgMigrate());
  leave_unrouted("/types.MsgRagnarok", MsgRagnarok());
  leave_unrouted("/types.MsgRefundTx", MsgRefundTx());
  leave_unrouted("/types.MsgManageTHORName", MsgManageTHORName());
  leave_unrouted("/types.MsgReferenceMemo", MsgReferenceMemo());
  leave_unrouted("/types.MsgTradeAccountDeposit", MsgTradeAccountDeposit());
  leave_unrouted("/types.MsgTradeAccountWithdrawal", MsgTradeAccountWithdrawal());
  leave_unrouted("/types.MsgModifyLimitSwap", MsgModifyLimitSwap());
  leave_unrouted("/types.MsgSecuredAssetDeposit", MsgSecuredAssetDeposit());
  leave_unrouted("/types.MsgSecuredAssetWithdraw", MsgSecuredAssetWithdraw());
  leave_unrouted("/types.MsgTCYClaim", MsgTCYClaim());
  leave_unrouted("/types.MsgTCYStake", MsgTCYStake());
  leave_unrouted("/types.MsgTCYUnstake", MsgTCYUnstake());
}

}  // namespace blockreplay::keeper::thorchain
