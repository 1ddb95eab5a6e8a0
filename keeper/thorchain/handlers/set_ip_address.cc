#include "keeper/thorchain/handlers/set_ip_address.h"

#include "keeper/thorchain/common/ip_address.h"
#include "keeper/thorchain/handlers/node_auth.h"
#include "keeper/thorchain/state/node_accounts.h"

namespace blockreplay::keeper::thorchain {
namespace {

class SetIpAddressHandler : public Handler<MsgSetIPAddress> {
 public:
  explicit SetIpAddressHandler(Managers* managers) : Handler("/types.MsgSetIPAddress", managers) {}

 protected:
  Error ValidateBasic(const MsgSetIPAddress& message) const override {
    if (message.signer.IsEmpty()) return Error(sdk::kErrInvalidAddress);
    if (!IsIpAddress(message.ip_address))
      return Error(sdk::kErrUnknownRequest, "invalid IP address");
    return {};
  }
  std::vector<AccAddress> GetSigners(const MsgSetIPAddress& message) const override {
    return {message.signer};
  }
  Error Ante(const Context& ctx, const MsgSetIPAddress& message) const override {
    KEEPER_RETURN_IF_ERROR(RequireValidator(k(), ctx, message.signer));
    return DeductNativeTxFeeFromBond(k(), ctx, message.signer);
  }
  Error Validate(const Context& ctx, const MsgSetIPAddress& message) const override {
    KEEPER_RETURN_IF_ERROR(ValidateBasic(message));
    return RequireValidator(k(), ctx, message.signer);
  }
  Error Run(const Context& ctx, const MsgSetIPAddress& message) const override {
    KEEPER_ASSIGN_OR_RETURN(NodeAccount account, GetNodeAccount(k(), ctx, message.signer));
    account.ip_address = message.ip_address;
    SetNodeAccount(k(), ctx, account);
    ctx.events().Emit(
        sdk::Event("set_ip_address", {{"thor_address", message.signer.ToString(k().network())},
                                      {"address", message.ip_address}}));
    return {};
  }
};

}  // namespace

std::unique_ptr<sdk::MessageHandler> NewSetIpAddressHandler(Managers* managers) {
  return std::make_unique<SetIpAddressHandler>(managers);
}

}  // namespace blockreplay::keeper::thorchain
