#include "keeper/thorchain/handlers/upgrade.h"

#include <optional>
#include <string>

#include "keeper/thorchain/common/semver.h"
#include "keeper/thorchain/handlers/node_auth.h"
#include "keeper/thorchain/state/pub_keys.h"
#include "keeper/thorchain/state/upgrades.h"

namespace blockreplay::keeper::thorchain {
namespace {

Error Schedule(const Context& ctx, const std::string& name, const UpgradeProposal& proposal) {
  return kUpgrades.Schedule(ctx, {.name = name, .height = proposal.height, .info = proposal.info});
}

// While another upgrade is scheduled, only the vote counts.
Error ScheduleIfApproved(const Keeper& k, const Context& ctx, const std::string& name) {
  KEEPER_ASSIGN_OR_RETURN(const std::optional<sdk::UpgradePlan> plan, kUpgrades.GetPlan(ctx));
  if (plan && plan->name == name) return {};
  KEEPER_ASSIGN_OR_RETURN(const std::optional<UpgradeProposal> proposal,
                          GetProposedUpgrade(k, ctx, name));
  if (!proposal) return Error::New("upgrade proposal not found: " + name);
  KEEPER_ASSIGN_OR_RETURN(const bool approved, IsUpgradeApproved(k, ctx, name));
  if (!approved || plan) return {};
  return Schedule(ctx, name, *proposal);
}

// The first proposal that was approved while another upgrade was scheduled takes its place.
Error ScheduleNext(const Keeper& k, const Context& ctx) {
  for (sdk::GasIterator it = k.kv(ctx).IteratePrefix(kUpgradeProposalPrefix); it.Valid();
       it.Next()) {
    const std::string name(it.key().substr(it.key().rfind('/') + 1));
    UpgradeProposal proposal;
    if (!Decode(it.value(), &proposal)) return Error::New("failed to unmarshal proposed upgrade");
    KEEPER_ASSIGN_OR_RETURN(const bool approved, IsUpgradeApproved(k, ctx, name));
    if (approved) return Schedule(ctx, name, proposal);
  }
  return {};
}

Error ClearUnlessApproved(const Keeper& k, const Context& ctx, const std::string& name) {
  KEEPER_ASSIGN_OR_RETURN(const std::optional<sdk::UpgradePlan> plan, kUpgrades.GetPlan(ctx));
  if (!plan || plan->name != name) return {};
  KEEPER_ASSIGN_OR_RETURN(const bool approved, IsUpgradeApproved(k, ctx, name));
  if (approved) return {};
  KEEPER_RETURN_IF_ERROR(kUpgrades.ClearPlan(ctx));
  return ScheduleNext(k, ctx);
}

// What the three messages have in common.
template <typename M>
class UpgradeHandler : public Handler<M> {
 protected:
  using Handler<M>::Handler;
  using Handler<M>::k;

  Error ValidateBasic(const M& message) const override {
    if (message.signer.IsEmpty()) return Error(sdk::kErrInvalidAddress);
    if (message.name.empty()) return Error(sdk::kErrUnknownRequest, "name cannot be empty");
    return {};
  }
  std::vector<AccAddress> GetSigners(const M& message) const override { return {message.signer}; }
  Error Ante(const Context& ctx, const M& message) const override {
    KEEPER_RETURN_IF_ERROR(CheckActiveValidator(k(), ctx, message.signer));
    return DeductNativeTxFeeFromBond(k(), ctx, message.signer);
  }
  Error Validate(const Context& ctx, const M& message) const override {
    KEEPER_RETURN_IF_ERROR(ValidateBasic(message));
    const Error active = CheckActiveValidator(k(), ctx, message.signer);
    return active.ok() ? active : Error(sdk::kErrUnauthorized, active.message());
  }

  Error RequireProposal(const Context& ctx, const std::string& name) const {
    const Result<std::optional<UpgradeProposal>> proposal = GetProposedUpgrade(k(), ctx, name);
    if (!proposal.ok()) {
      return Error(sdk::kErrUnknownRequest, "failed to get proposed upgrade: " + name);
    }
    if (!*proposal) {
      return Error(sdk::kErrUnknownRequest, "upgrade proposal does not exist: " + name);
    }
    return {};
  }
  void Vote(const Context& ctx, const M& message, bool approves) const {
    SetUpgradeVote(k(), ctx, message.signer, message.name, approves);
    ctx.events().Emit(
        sdk::Event(approves ? "approve_upgrade" : "reject_upgrade",
                   {{"thor_address", ToText(k(), message.signer)}, {"name", message.name}}));
  }
};

class ProposeUpgradeHandler : public UpgradeHandler<MsgProposeUpgrade> {
 public:
  explicit ProposeUpgradeHandler(Managers* managers)
      : UpgradeHandler("/types.MsgProposeUpgrade", managers) {}

 protected:
  Error ValidateBasic(const MsgProposeUpgrade& message) const override {
    constexpr size_t kLongestName = 100;
    constexpr size_t kLongestInfo = 2500;
    KEEPER_RETURN_IF_ERROR(UpgradeHandler::ValidateBasic(message));
    if (message.name.size() > kLongestName) {
      return Error(sdk::kErrUnknownRequest, "name cannot be longer than 100 characters");
    }
    if (!SemVer::Parse(message.name)) {
      return Error(sdk::kErrUnknownRequest, "name is not a valid semver");
    }
    if (message.upgrade.info.size() > kLongestInfo) {
      return Error(sdk::kErrUnknownRequest, "info cannot be longer than 2500 characters");
    }
    if (message.upgrade.height == 0) {
      return Error(sdk::kErrUnknownRequest, "height cannot be zero");
    }
    return {};
  }
  Error Validate(const Context& ctx, const MsgProposeUpgrade& message) const override {
    constexpr int kMostProposals = 3;
    KEEPER_RETURN_IF_ERROR(UpgradeHandler::Validate(ctx, message));
    if (ctx.height() >= message.upgrade.height) {
      return Error(sdk::kErrUnknownRequest, "upgrade height must be in the future");
    }
    const Result<std::optional<UpgradeProposal>> proposal =
        GetProposedUpgrade(k(), ctx, message.name);
    if (!proposal.ok()) {
      return Error(sdk::kErrUnknownRequest, "failed to get proposed upgrade: " + message.name);
    }
    if (*proposal) {
      return Error(sdk::kErrUnknownRequest, "upgrade proposal already exists: " + message.name);
    }
    int own = 0;
    for (sdk::GasIterator it = k().kv(ctx).IteratePrefix(kUpgradeProposalPrefix); it.Valid();
         it.Next()) {
      UpgradeProposal other;
      if (!thorchain::Decode(it.value(), &other)) {
        return Error(sdk::kErrUnknownRequest, "failed to unmarshal upgrade proposal");
      }
      if (other.proposer == message.signer && ++own == kMostProposals) {
        return Error(sdk::kErrUnknownRequest, "exceeded maximum number of upgrade proposals: 3");
      }
    }
    return {};
  }
  Error Run(const Context& ctx, const MsgProposeUpgrade& message) const override {
    SetProposedUpgrade(k(), ctx, message.name,
                       {.height = message.upgrade.height,
                        .info = message.upgrade.info,
                        .proposer = message.signer});
    ctx.events().Emit(
        sdk::Event("propose_upgrade", {{"thor_address", ToText(k(), message.signer)},
                                       {"name", message.name},
                                       {"height", std::to_string(message.upgrade.height)},
                                       {"info", message.upgrade.info}}));
    Vote(ctx, message, true);
    return ScheduleIfApproved(k(), ctx, message.name);
  }
};

class ApproveUpgradeHandler : public UpgradeHandler<MsgApproveUpgrade> {
 public:
  explicit ApproveUpgradeHandler(Managers* managers)
      : UpgradeHandler("/types.MsgApproveUpgrade", managers) {}

 protected:
  Error Validate(const Context& ctx, const MsgApproveUpgrade& message) const override {
    KEEPER_RETURN_IF_ERROR(UpgradeHandler::Validate(ctx, message));
    KEEPER_RETURN_IF_ERROR(RequireProposal(ctx, message.name));
    if (GetUpgradeVote(k(), ctx, message.signer, message.name) == true) {
      return Error(sdk::kErrUnknownRequest, "upgrade already approved: " + message.name);
    }
    return {};
  }
  Error Run(const Context& ctx, const MsgApproveUpgrade& message) const override {
    Vote(ctx, message, true);
    return ScheduleIfApproved(k(), ctx, message.name);
  }
};

class RejectUpgradeHandler : public UpgradeHandler<MsgRejectUpgrade> {
 public:
  explicit RejectUpgradeHandler(Managers* managers)
      : UpgradeHandler("/types.MsgRejectUpgrade", managers) {}

 protected:
  Error Validate(const Context& ctx, const MsgRejectUpgrade& message) const override {
    KEEPER_RETURN_IF_ERROR(UpgradeHandler::Validate(ctx, message));
    KEEPER_RETURN_IF_ERROR(RequireProposal(ctx, message.name));
    if (GetUpgradeVote(k(), ctx, message.signer, message.name) == false) {
      return Error(sdk::kErrUnknownRequest, "upgrade already rejected: " + message.name);
    }
    return {};
  }
  Error Run(const Context& ctx, const MsgRejectUpgrade& message) const override {
    Vote(ctx, message, false);
    return ClearUnlessApproved(k(), ctx, message.name);
  }
};

}  // namespace

std::unique_ptr<sdk::MessageHandler> NewProposeUpgradeHandler(Managers* managers) {
  return std::make_unique<ProposeUpgradeHandler>(managers);
}
std::unique_ptr<sdk::MessageHandler> NewApproveUpgradeHandler(Managers* managers) {
  return std::make_unique<ApproveUpgradeHandler>(managers);
}
std::unique_ptr<sdk::MessageHandler> NewRejectUpgradeHandler(Managers* managers) {
  return std::make_unique<RejectUpgradeHandler>(managers);
}

}  // namespace blockreplay::keeper::thorchain
