#include "keeper/thorchain/handlers/ban.h"

#include <algorithm>
#include <string>

#include "keeper/thorchain/handlers/node_auth.h"
#include "keeper/thorchain/majority.h"
#include "keeper/thorchain/modules.h"
#include "keeper/thorchain/state/funds.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/node_accounts.h"
#include "keeper/thorchain/state/node_votes.h"
#include "keeper/thorchain/state/pub_keys.h"

namespace blockreplay::keeper::thorchain {
namespace {

Error CheckAccount(const NodeAccount& account) {
  if (account.node_address.IsEmpty()) return Error::New("node thor address is empty");
  if (account.bond_address.IsEmpty()) return Error::New("bond address is empty");
  if (account.status == NodeStatus::Unknown) return Error::New("node status cannot be unknown");
  return {};
}

class BanHandler : public ActiveValidatorHandler<MsgBan> {
 public:
  explicit BanHandler(Managers* managers) : ActiveValidatorHandler("/types.MsgBan", managers) {}

 protected:
  Error ValidateBasic(const MsgBan& message) const override {
    if (message.signer.IsEmpty() || message.node_address.IsEmpty()) {
      return Error(sdk::kErrInvalidAddress);
    }
    return {};
  }
  Error Run(const Context& ctx, const MsgBan& message) const override {
    KEEPER_ASSIGN_OR_RETURN(NodeAccount node, GetNodeAccount(k(), ctx, message.node_address));
    KEEPER_RETURN_IF_ERROR(CheckAccount(node));
    if (node.forced_to_leave) return {};
    if (node.status != NodeStatus::Active && node.status != NodeStatus::Standby) {
      return Error(kErrInternal,
                   "cannot ban a node account that is not currently active or standby");
    }
    KEEPER_ASSIGN_OR_RETURN(const SharedNodeAccount banner,
                            ReadNodeAccount(k(), ctx, message.signer));
    KEEPER_RETURN_IF_ERROR(CheckAccount(*banner));
    KEEPER_ASSIGN_OR_RETURN(const NodeAccounts active, ListActiveValidators(k(), ctx));

    KEEPER_ASSIGN_OR_RETURN(BanVoter voter, GetBanVoter(k(), ctx, message.node_address));
    const std::string& signer = ToText(k(), message.signer);
    if (std::find(voter.signers.begin(), voter.signers.end(), signer) == voter.signers.end()) {
      voter.signers.push_back(signer);
    }
    SetBanVoter(k(), ctx, voter);
    if (!HasSuperMajority(CountActive(voter, active), active.size()) || voter.block_height > 0) {
      return {};
    }
    voter.block_height = ctx.height();
    SetBanVoter(k(), ctx, voter);
    node.forced_to_leave = true;
    node.leave_score = 1;
    KEEPER_RETURN_IF_ERROR(Slash(ctx, &node));
    SetNodeAccount(k(), ctx, node);
    return {};
  }

 private:
  size_t CountActive(const BanVoter& voter, const NodeAccounts& active) const {
    return static_cast<size_t>(
        std::count_if(voter.signers.begin(), voter.signers.end(), [&](const std::string& signer) {
          const sdk::Result<std::string> bytes = k().addresses->ToBytes(signer);
          return bytes.ok() && IsNodeKeys(active, AccAddress(*bytes));
        }));
  }

  Error Slash(const Context& ctx, NodeAccount* node) const {
    const int64_t slash = GetConfigInt64(k(), ctx, ConstantName::kBondSlashBan);
    if (slash <= 0) return {};
    const Uint amount = std::min(Uint(static_cast<uint64_t>(slash)), node->bond);
    node->bond = SafeSub(node->bond, amount);
    KEEPER_RETURN_IF_ERROR(SendFromModuleToModule(k(), ctx, kBondModule, kReserveModule,
                                                  {Coin(assets::kRune, amount)}));
    EmitBondEvent(k(), ctx, amount, BondType::bond_cost, Tx(), node->node_address, AccAddress());
    return {};
  }
};

}  // namespace

std::unique_ptr<sdk::MessageHandler> NewBanHandler(Managers* managers) {
  return std::make_unique<BanHandler>(managers);
}

}  // namespace blockreplay::keeper::thorchain
