#include "keeper/thorchain/handlers/set_version.h"

#include "keeper/thorchain/common/semver.h"
#include "keeper/thorchain/handlers/node_auth.h"
#include "keeper/thorchain/state/min_join.h"
#include "keeper/thorchain/state/node_accounts.h"

namespace blockreplay::keeper::thorchain {
namespace {

class SetVersionHandler : public Handler<MsgSetVersion> {
 public:
  explicit SetVersionHandler(Managers* managers) : Handler("/types.MsgSetVersion", managers) {}

 protected:
  Error ValidateBasic(const MsgSetVersion& message) const override {
    if (message.signer.IsEmpty()) return Error(sdk::kErrInvalidAddress);
    if (!SemVer::Parse(message.version)) {
      return Error(sdk::kErrUnknownRequest,
                   sdk::StrCat("not a semantic version: ", message.version));
    }
    return {};
  }
  std::vector<AccAddress> GetSigners(const MsgSetVersion& message) const override {
    return {message.signer};
  }
  Error Ante(const Context& ctx, const MsgSetVersion& message) const override {
    KEEPER_RETURN_IF_ERROR(RequireValidator(k(), ctx, message.signer));
    return DeductNativeTxFeeFromBond(k(), ctx, message.signer);
  }
  Error Validate(const Context& ctx, const MsgSetVersion& message) const override {
    KEEPER_RETURN_IF_ERROR(ValidateBasic(message));
    const SemVer version = SemVer::ParseOrZero(message.version);
    if (!version.build.empty() || !version.pre_release.empty()) {
      return Error(sdk::kErrUnknownRequest, "THORChain doesn't use Pre/Build version");
    }
    return RequireValidator(k(), ctx, message.signer);
  }
  Error Run(const Context& ctx, const MsgSetVersion& message) const override {
    KEEPER_ASSIGN_OR_RETURN(NodeAccount account, GetNodeAccount(k(), ctx, message.signer));
    const SemVer version = SemVer::ParseOrZero(message.version);
    if (SemVer::ParseOrZero(account.version) < version) account.version = version.ToString();
    SetNodeAccount(k(), ctx, account);
    ctx.events().Emit(sdk::Event(
        "set_version",
        {{"thor_address", message.signer.ToString(k().network())}, {"version", message.version}}));
    if (account.status == NodeStatus::Active) SetMinJoinLast(k(), ctx);
    return {};
  }
};

}  // namespace

std::unique_ptr<sdk::MessageHandler> NewSetVersionHandler(Managers* managers) {
  return std::make_unique<SetVersionHandler>(managers);
}

}  // namespace blockreplay::keeper::thorchain
