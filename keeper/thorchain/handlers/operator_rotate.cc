#include "keeper/thorchain/handlers/operator_rotate.h"

#include <algorithm>
#include <string>
#include <vector>

#include "keeper/thorchain/managers/bonds.h"
#include "keeper/thorchain/multi_error.h"
#include "keeper/thorchain/state/bond_providers.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/node_accounts.h"
#include "keeper/thorchain/state/pub_keys.h"
#include "keeper/thorchain/state/vaults.h"

namespace blockreplay::keeper::thorchain {
namespace {

// When the active vaults became so; zero if they can't be read.
int64_t LastChurnHeight(const Keeper& k, const Context& ctx) {
  int64_t height = 0;
  const Result<Vaults> vaults = GetAsgardVaultsByStatus(k, ctx, VaultStatus::ActiveVault);
  if (!vaults.ok()) return height;
  for (const Vault& vault : *vaults) height = std::max(height, vault.status_since);
  return height;
}

// The nodes of `from`. An error if one of either operator's nodes is active.
Result<std::vector<NodeAccount>> FindNodes(const Keeper& k, const Context& ctx, const Address& from,
                                           const Address& to) {
  std::vector<NodeAccount> nodes;
  for (auto it = k.kv(ctx).IteratePrefix(kNodeAccountPrefix); it.Valid(); it.Next()) {
    const SharedNodeAccount node = DecodeNodeAccount(it.value());
    if (node == nullptr) return Error::New("fail to unmarshal node account");
    if (node->node_address.IsEmpty() || node->status == NodeStatus::Unknown) continue;
    const bool active = node->status == NodeStatus::Active;
    if (active && node->bond_address == to) {
      return Error::New(sdk::StrCat("cannot rotate to operator with active node: ",
                                    ToText(k, node->node_address)));
    }
    if (!(node->bond_address == from)) continue;
    if (active) {
      return Error::New(sdk::StrCat("cannot rotate from operator with active node: ",
                                    ToText(k, node->node_address)));
    }
    nodes.push_back(*node);
  }
  return nodes;
}

Error Rotate(const Keeper& k, const Context& ctx, const AccAddress& to, NodeAccount node) {
  const auto from = node.bond_address.ToAccAddress(k.network());
  if (!from.ok()) {
    return InternalError(Error::New(std::string(from.status().message())),
                         "fail to get bond address");
  }
  const std::string node_text = ToText(k, node.node_address);
  const std::string to_text = ToText(k, to);
  Result<BondProviders> providers = GetBondProviders(k, ctx, node.node_address);
  if (!providers.ok()) {
    return InternalError(providers.error(),
                         sdk::StrCat("fail to get bond providers(", node_text, ")"));
  }
  if (HasProvider(*providers, to)) {
    return Error::New(
        sdk::StrCat("operator ", to_text, " is already a bond provider for node ", node_text));
  }
  KEEPER_RETURN_IF_ERROR(AddOperatorIfNoProviders(k, ctx, node, &*providers));
  node.bond_address = Address(to_text);
  bool updated = false;
  for (BondProvider& provider : providers->providers) {
    if (provider.bond_address != *from) continue;
    provider.bond_address = to;
    updated = true;
  }
  if (!updated) {
    return Error::New(sdk::StrCat("no bond provider matches current operator ", ToText(k, *from),
                                  " for node ", node_text));
  }
  SetBondProviders(k, ctx, *providers);
  SetNodeAccount(k, ctx, node);
  ctx.events().Emit(sdk::Event(
      "operator_rotate",
      {{"signer", ToText(k, *from)}, {"node_address", node_text}, {"operator_address", to_text}}));
  return {};
}

}  // namespace

Error ValidateBasic(const Keeper&, const MsgOperatorRotate& m) {
  if (m.signer.IsEmpty()) return Error(sdk::kErrUnknownRequest, "signer cannot be empty");
  if (m.operator_address.IsEmpty()) {
    return Error(sdk::kErrUnknownRequest, "operator address cannot be empty");
  }
  if (!m.coin.amount.IsZero()) {
    return Error(sdk::kErrUnknownRequest, "coin amount must be zero");
  }
  return {};
}

Error HandleInternal(Managers& mgr, const Context& ctx, const MsgOperatorRotate& message) {
  const Keeper& k = *mgr.keeper;
  KEEPER_RETURN_IF_ERROR(ValidateBasic(k, message));
  if (GetConfigInt64(k, ctx, ConstantName::kHaltOperatorRotate) > 0) {
    return Error::New("rotate is halted");
  }
  const int64_t last_churn = LastChurnHeight(k, ctx);
  const int64_t interval = GetConfigInt64(k, ctx, ConstantName::kChurnInterval);
  if (ctx.height() > last_churn + interval / 2) {
    return Error::New("rotate is only allowed in the first half of churn");
  }
  KEEPER_ASSIGN_OR_RETURN(const std::vector<NodeAccount> nodes,
                          FindNodes(k, ctx, Address(ToText(k, message.signer)),
                                    Address(ToText(k, message.operator_address))));
  if (nodes.empty()) {
    return Error::New(sdk::StrCat("no nodes found for operator ", ToText(k, message.signer)));
  }
  for (const NodeAccount& node : nodes) {
    KEEPER_RETURN_IF_ERROR(Rotate(k, ctx, message.operator_address, node));
  }
  return {};
}

}  // namespace blockreplay::keeper::thorchain
