#include "keeper/thorchain/handlers/leave.h"

#include <algorithm>
#include <string>
#include <utility>

#include "keeper/thorchain/managers/bonds.h"
#include "keeper/thorchain/multi_error.h"
#include "keeper/thorchain/state/bond_providers.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/node_accounts.h"
#include "keeper/thorchain/state/pub_keys.h"
#include "keeper/thorchain/state/slash_points.h"
#include "keeper/thorchain/state/vaults.h"

namespace blockreplay::keeper::thorchain {
namespace {

// Beside the operator, a provider with the minimum bond may take an active node out.
Error CheckProvider(const Keeper& k, const Context& ctx, const MsgLeave& message,
                    const NodeAccount& node) {
  const std::string& from = message.tx.from_address.ToString();
  const std::string address = ToText(k, message.node_address);
  if (node.status != NodeStatus::Active) {
    return Error(sdk::kErrUnauthorized, sdk::StrCat(from, " is not authorized to manage ", address,
                                                    " when it is not Active"));
  }
  const Uint min_bond(
      static_cast<uint64_t>(GetConfigInt64(k, ctx, ConstantName::kMinimumBondInRune)));
  const Result<BondProviders> providers = GetBondProviders(k, ctx, message.node_address);
  if (!providers.ok()) return InternalError(providers.error(), "fail to get bond providers");
  for (const BondProvider& provider : providers->providers) {
    const auto account = message.tx.from_address.ToAccAddress(k.network());
    if (!account.ok()) {
      return InternalError(Error::New(std::string(account.status().message())),
                           "fail to resolve bond provider AccAddress");
    }
    if (provider.bond_address == *account && provider.bond >= min_bond) return {};
  }
  return Error(sdk::kErrUnauthorized, sdk::StrCat(from, " are not authorized to manage ", address));
}

// How long it has been active, in 1e-8 blocks, for each slash point.
uint64_t LeaveScore(const Keeper& k, const Context& ctx, const NodeAccount& node) {
  const Uint age(
      static_cast<uint64_t>((ctx.height() - node.status_since) * static_cast<int64_t>(kOne)));
  const int64_t points = GetSlashPoints(k, ctx, node.node_address);
  if (points == 0) return age.ToUint64();
  return (age / Uint(static_cast<uint64_t>(points))).ToUint64();
}

Error LeaveAtOnce(const Keeper& k, const Context& ctx, const MsgLeave& message,
                  const AccAddress& op, NodeAccount* node) {
  KEEPER_RETURN_IF_ERROR(CheckBondLockup(k, ctx, *node));
  KEEPER_ASSIGN_OR_RETURN(const bool retiring, IsMemberOfRetiringVault(k, ctx, *node));
  // The first node's own key was a vault once.
  if (retiring || VaultExists(k, ctx, node->pub_key_set.secp256k1)) return {};
  if (Error error = RefundBond(k, ctx, message.tx, op, Uint(), node); error) {
    return InternalError(error, "fail to refund bond");
  }
  UpdateStatus(node, NodeStatus::Disabled, ctx.height());
  return {};
}

}  // namespace

Error ValidateBasic(const Keeper&, const MsgLeave& m) {
  if (m.tx.from_address.IsEmpty()) {
    return Error(sdk::kErrInvalidAddress, "from address cannot be empty");
  }
  // Without coins the transaction isn't valid as such.
  if (m.tx.id.IsEmpty()) return Error(sdk::kErrUnknownRequest, "tx id cannot be empty");
  if (m.signer.IsEmpty()) return Error(sdk::kErrInvalidAddress, "signer cannot be empty ");
  if (m.node_address.IsEmpty()) {
    return Error(sdk::kErrInvalidAddress, "node address cannot be empty");
  }
  return {};
}

Error HandleInternal(Managers& mgr, const Context& ctx, const MsgLeave& message) {
  const Keeper& k = *mgr.keeper;
  KEEPER_RETURN_IF_ERROR(ValidateBasic(k, message));
  if (!message.tx.coins.IsEmpty()) {
    return Error(sdk::kErrUnknownRequest, "leave message cannot have a non-zero coin amount");
  }
  Result<NodeAccount> node = GetNodeAccount(k, ctx, message.node_address);
  if (!node.ok()) {
    return InternalError(node.error(), "fail to get node account by bond address");
  }
  if (node->status == NodeStatus::Unknown) {
    return Error(sdk::kErrUnknownRequest, "node account doesn't exist");
  }
  if (!(node->bond_address == message.tx.from_address)) {
    KEEPER_RETURN_IF_ERROR(CheckProvider(k, ctx, message, *node));
  }
  const auto op = node->bond_address.ToAccAddress(k.network());
  if (!op.ok()) {
    return InternalError(Error::New(std::string(op.status().message())), "fail to refund bond");
  }
  if (node->status != NodeStatus::Active) {
    KEEPER_RETURN_IF_ERROR(LeaveAtOnce(k, ctx, message, *op, &*node));
  } else if (node->leave_score == 0) {
    node->leave_score = LeaveScore(k, ctx, *node);
  }
  node->requested_to_leave = true;
  SetNodeAccount(k, ctx, *node);
  ctx.events().Emit(
      sdk::Event("validator_request_leave", {{"signer", message.tx.from_address.ToString()},
                                             {"node", ToText(k, message.node_address)},
                                             {"txid", message.tx.id.ToString()}}));
  return {};
}

}  // namespace blockreplay::keeper::thorchain
