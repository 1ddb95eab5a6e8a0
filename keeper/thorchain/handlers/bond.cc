#include "keeper/thorchain/handlers/bond.h"

#include <string>
#include <utility>

#include "keeper/thorchain/handlers/node_auth.h"
#include "keeper/thorchain/managers/bonds.h"
#include "keeper/thorchain/multi_error.h"
#include "keeper/thorchain/state/bond_providers.h"
#include "keeper/thorchain/state/funds.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/node_accounts.h"
#include "keeper/thorchain/state/pub_keys.h"

namespace blockreplay::keeper::thorchain {
namespace {

constexpr int64_t kNoFeeGiven = -1;

Error NodeError(const Keeper& k, std::string_view what, const AccAddress& node,
                const Error& cause) {
  return InternalError(cause, sdk::StrCat("fail to get ", what, "(", ToText(k, node), ")"));
}

Result<AccAddress> BonderAccount(const Keeper& k, const MsgBond& message) {
  auto account = message.bond_address.ToAccAddress(k.network());
  if (account.ok()) return *std::move(account);
  return InternalError(
      Error::New(std::string(account.status().message())),
      sdk::StrCat("fail to parse bond address(", message.bond_address.ToString(), ")"));
}

Error Validate(const Keeper& k, const Context& ctx, const MsgBond& message) {
  KEEPER_RETURN_IF_ERROR(ValidateBasic(k, message));
  const Result<SharedNodeAccount> found = ReadNodeAccount(k, ctx, message.node_address);
  if (!found.ok()) return NodeError(k, "node account", message.node_address, found.error());
  const NodeAccount& node = **found;
  if (node.status == NodeStatus::Ready) {
    return InternalError({}, "cannot add bond while node is ready status");
  }
  if (GetConfigInt64(k, ctx, ConstantName::kPauseBond) > 0) {
    return InternalError({}, "bonding has been paused");
  }
  const Uint bond = message.bond + node.bond;
  if (const int64_t max = GetMimir(k, ctx, "MaximumBondInRune");
      max > 0 && bond > Uint(static_cast<uint64_t>(max))) {
    return Error(sdk::kErrUnknownRequest, sdk::StrCat("too much bond, max validator bond (", max,
                                                      "), bond(", bond.ToString(), ")"));
  }
  if (!message.bond_address.IsChain(chains::kTHOR)) {
    return Error(sdk::kErrUnknownRequest,
                 sdk::StrCat("bonding address is NOT a THORChain address: ",
                             message.bond_address.ToString()));
  }
  if (!message.bond_provider_address.IsEmpty()) {
    const std::string text = ToText(k, message.bond_provider_address);
    if (!Address(text).IsChain(chains::kTHOR)) {
      return Error(sdk::kErrUnknownRequest,
                   sdk::StrCat("bond provider address is NOT a THORChain address: ", text));
    }
  }
  const Result<BondProviders> providers = GetBondProviders(k, ctx, message.node_address);
  if (!providers.ok()) {
    return NodeError(k, "bond providers", message.node_address, providers.error());
  }
  const bool has_operator = !node.bond_address.IsEmpty();
  const bool is_operator = message.bond_address == node.bond_address;
  if (message.operator_fee > kNoFeeGiven && has_operator && !is_operator) {
    return Error(sdk::kErrUnknownRequest, "only node operator can set fee");
  }
  if (is_operator || !has_operator) return {};
  KEEPER_ASSIGN_OR_RETURN(const AccAddress from, BonderAccount(k, message));
  if (!HasProvider(*providers, from)) {
    return Error(sdk::kErrUnknownRequest, "bond address is not valid for node account");
  }
  return {};
}

}  // namespace

Error ValidateBasic(const Keeper&, const MsgBond& m) {
  if (m.node_address.IsEmpty()) {
    return Error(sdk::kErrInvalidAddress, "node address cannot be empty");
  }
  if (m.bond.IsZero()) return Error(sdk::kErrUnknownRequest, "bond cannot be zero");
  if (m.bond_address.IsEmpty()) {
    return Error(sdk::kErrInvalidAddress, "bond address cannot be empty");
  }
  if (const absl::Status status = m.tx_in.Valid(); !status.ok()) {
    return Error(sdk::kErrUnknownRequest, std::string(status.message()));
  }
  if (m.tx_in.coins.size() > 1) {
    return Error(sdk::kErrUnknownRequest, "cannot bond more than one coin");
  }
  if (m.tx_in.coins.empty()) return Error(sdk::kErrUnknownRequest, "must bond with rune");
  if (!m.tx_in.coins[0].IsRune()) {
    return Error(sdk::kErrUnknownRequest, "cannot bond non-native rune asset");
  }
  if (m.signer.IsEmpty()) return Error(sdk::kErrInvalidAddress, "empty signer address");
  if (m.operator_fee < kNoFeeGiven || m.operator_fee > 10000) {
    return Error(sdk::kErrUnknownRequest, "operator fee must be 0-10000");
  }
  return {};
}

Error HandleInternal(Managers& mgr, const Context& ctx, const MsgBond& message) {
  const Keeper& k = *mgr.keeper;
  KEEPER_RETURN_IF_ERROR(Validate(k, ctx, message));

  Result<NodeAccount> found = GetNodeAccount(k, ctx, message.node_address);
  if (!found.ok()) return NodeError(k, "node account", message.node_address, found.error());
  NodeAccount node = *std::move(found);
  if (node.status == NodeStatus::Unknown) {
    // Its public keys come later, from the node itself.
    node = NodeAccount();
    node.node_address = message.node_address;
    node.bond_address = message.bond_address;
    UpdateStatus(&node, NodeStatus::Whitelisted, ctx.height());
    ctx.events().Emit(sdk::Event("new_node", {{"address", ToText(k, message.node_address)}}));
  }
  Result<BondProviders> providers = GetBondProviders(k, ctx, node.node_address);
  if (!providers.ok()) {
    return NodeError(k, "bond providers", message.node_address, providers.error());
  }
  KEEPER_RETURN_IF_ERROR(AddOperatorIfNoProviders(k, ctx, node, &*providers));
  AdjustBonds(&*providers, node.bond);

  Uint bond = message.bond;
  node.bond += bond;
  // A node can't send transactions before its account exists: it gets one RUNE of its bond.
  if (!k.auth->GetAccount(ctx, message.node_address.bytes()) && node.bond >= Uint(kOne)) {
    if (Error error = SendFromModuleToAccount(k, ctx, kBondModule, message.node_address,
                                              {Coin(assets::kRune, kOne)});
        error) {
      return InternalError(error, "fail to send one RUNE to node address");
    }
    node.bond = SafeSub(node.bond, kOne);
    bond = SafeSub(bond, kOne);
    Tx tx;
    tx.id = message.tx_in.id;
    EmitBondEvent(k, ctx, kOne, BondType::bond_cost, tx, node.node_address, AccAddress());
  }

  if (message.bond_address == node.bond_address && !message.bond_provider_address.IsEmpty()) {
    const int64_t max = GetConfigInt64(k, ctx, ConstantName::kMaxBondProviders);
    if (static_cast<int64_t>(providers->providers.size()) >= max) {
      return Error::New("additional bond providers are not allowed, maximum reached");
    }
    if (!HasProvider(*providers, message.bond_provider_address)) {
      providers->providers.emplace_back().bond_address = message.bond_provider_address;
    }
  }
  KEEPER_ASSIGN_OR_RETURN(const AccAddress from, BonderAccount(k, message));
  AddBond(&*providers, from, bond);
  if (message.operator_fee > kNoFeeGiven) {
    providers->node_operator_fee = Uint(static_cast<uint64_t>(message.operator_fee));
  }
  SetNodeAccount(k, ctx, node);
  SetBondProviders(k, ctx, *providers);
  EmitBondEvent(k, ctx, bond, BondType::bond_paid, message.tx_in, node.node_address, from);
  return {};
}

}  // namespace blockreplay::keeper::thorchain
