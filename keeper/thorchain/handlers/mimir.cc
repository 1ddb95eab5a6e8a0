#include "keeper/thorchain/handlers/mimir.h"

#include <algorithm>
#include <optional>

#include "keeper/thorchain/handlers/node_auth.h"
#include "keeper/thorchain/modules.h"
#include "keeper/thorchain/state/funds.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/node_accounts.h"
#include "keeper/thorchain/state/node_mimirs.h"

namespace blockreplay::keeper::thorchain {
namespace {

constexpr size_t kLongestKey = 128;

bool IsKey(std::string_view key) {
  return !key.empty() && key.size() <= kLongestKey &&
         std::all_of(key.begin(), key.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  c == '-';
         });
}

class MimirHandler : public Handler<MsgMimir> {
 public:
  explicit MimirHandler(Managers* managers) : Handler("/types.MsgMimir", managers) {}

 protected:
  Error ValidateBasic(const MsgMimir& message) const override {
    if (message.key.empty()) return Error(sdk::kErrUnknownRequest, "key cannot be empty");
    if (message.signer.IsEmpty()) return Error(sdk::kErrInvalidAddress);
    return {};
  }
  std::vector<AccAddress> GetSigners(const MsgMimir& message) const override {
    return {message.signer};
  }
  Error Ante(const Context& ctx, const MsgMimir& message) const override {
    return RequireActiveValidator(k(), ctx, message.signer);
  }
  Error Validate(const Context& ctx, const MsgMimir& message) const override {
    KEEPER_RETURN_IF_ERROR(ValidateBasic(message));
    if (!IsKey(message.key)) return Error(sdk::kErrUnknownRequest, "invalid mimir key");
    KEEPER_RETURN_IF_ERROR(RequireActiveValidator(k(), ctx, message.signer));
    if (ToUpper(message.key).ends_with("SLIPMINBPS") &&
        message.value > GetConfigInt64(k(), ctx, ConstantName::kSlipMinBpsMax)) {
      return Error(sdk::kErrUnknownRequest, "min slip mimir exceeds SlipMinBpsMax");
    }
    return {};
  }
  Error Run(const Context& ctx, const MsgMimir& message) const override {
    const int64_t current = GetMimir(k(), ctx, message.key);
    KEEPER_RETURN_IF_ERROR(Vote(ctx, message));
    if (message.value == current) return {};

    KEEPER_ASSIGN_OR_RETURN(const NodeMimirs votes, GetNodeMimirs(k(), ctx, message.key));
    KEEPER_ASSIGN_OR_RETURN(const NodeAccounts active, ListActiveValidators(k(), ctx));
    std::optional<int64_t> effective;
    if (IsOperationalMimir(message.key)) {
      const int64_t min_votes = GetConfigInt64(k(), ctx, ConstantName::kOperationalVotesMin);
      effective = OperationalValue(votes, message.key, min_votes, active);
    } else {
      effective = SuperMajorityValue(votes, message.key, active);
    }
    if (!effective || *effective < 0 || *effective == current || *effective != message.value)
      return {};
    SetMimir(k(), ctx, message.key, *effective);
    EmitSetMimirEvent(ctx, message.key, *effective);
    return {};
  }

 private:
  // Records the vote and takes its price from the node's bond.
  Error Vote(const Context& ctx, const MsgMimir& message) const {
    KEEPER_ASSIGN_OR_RETURN(NodeAccount account, GetNodeAccount(k(), ctx, message.signer));
    const Uint cost = std::min(GetNativeTxFee(k(), ctx), account.bond);
    account.bond = SafeSub(account.bond, cost);
    SetNodeAccount(k(), ctx, account);
    if (!cost.IsZero()) {
      KEEPER_RETURN_IF_ERROR(SendFromModuleToModule(k(), ctx, kBondModule, kReserveModule,
                                                    {Coin(assets::kRune, cost)}));
    }
    KEEPER_RETURN_IF_ERROR(SetNodeMimir(k(), ctx, message.key, message.value, message.signer));
    ctx.events().Emit(
        sdk::Event("set_node_mimir", {{"key", ToUpper(message.key)},
                                      {"value", std::to_string(message.value)},
                                      {"address", message.signer.ToString(k().network())}}));
    EmitBondEvent(k(), ctx, cost, BondType::bond_cost, Tx(), account.node_address, AccAddress());
    return {};
  }
};

}  // namespace

void EmitSetMimirEvent(const Context& ctx, std::string_view key, int64_t value) {
  ctx.events().Emit(
      sdk::Event("set_mimir", {{"key", ToUpper(key)}, {"value", std::to_string(value)}}));
}

std::unique_ptr<sdk::MessageHandler> NewMimirHandler(Managers* managers) {
  return std::make_unique<MimirHandler>(managers);
}

}  // namespace blockreplay::keeper::thorchain
