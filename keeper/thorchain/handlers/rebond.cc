#include "keeper/thorchain/handlers/rebond.h"

#include <algorithm>
#include <string>
#include <utility>

#include "keeper/thorchain/managers/bonds.h"
#include "keeper/thorchain/managers/events.h"
#include "keeper/thorchain/multi_error.h"
#include "keeper/thorchain/state/bond_providers.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/node_accounts.h"
#include "keeper/thorchain/state/pub_keys.h"

namespace blockreplay::keeper::thorchain {
namespace {

Error NodeError(const Keeper& k, std::string_view what, const AccAddress& node,
                const Error& cause) {
  return InternalError(cause, sdk::StrCat("fail to get ", what, "(", ToText(k, node), ")"));
}

Error Validate(const Keeper& k, const Context& ctx, const MsgReBond& message) {
  KEEPER_RETURN_IF_ERROR(ValidateBasic(k, message));
  if (!message.tx_in.coins.IsEmpty()) {
    return Error(sdk::kErrUnknownRequest, "rebond message cannot have a non-zero coin amount");
  }
  const Result<SharedNodeAccount> node = ReadNodeAccount(k, ctx, message.node_address);
  if (!node.ok()) return NodeError(k, "node account", message.node_address, node.error());
  if ((*node)->status == NodeStatus::Unknown) {
    return InternalError({}, "node account status is unknown");
  }
  const auto op = (*node)->bond_address.ToAccAddress(k.network());
  if (!op.ok()) {
    return InternalError(Error::New(std::string(op.status().message())),
                         "fail to get node account address");
  }
  if (*op == message.signer) {
    return Error(sdk::kErrUnknownRequest, "node account is not allowed to rebond");
  }
  const Result<BondProviders> providers = GetBondProviders(k, ctx, message.node_address);
  if (!providers.ok()) {
    return NodeError(k, "bond providers", message.node_address, providers.error());
  }
  if (!HasProvider(*providers, message.signer)) {
    // Texts of addresses hold until the next one is asked for.
    const std::string signer = ToText(k, message.signer);
    return Error(sdk::kErrUnknownRequest,
                 sdk::StrCat(signer, " is not bonded with ", ToText(k, message.node_address)));
  }
  if (!HasProvider(*providers, message.new_bond_provider_address)) {
    return Error(sdk::kErrUnknownRequest, "new bond address is not whitelisted for node account");
  }
  return {};
}

}  // namespace

Error ValidateBasic(const Keeper&, const MsgReBond& m) {
  if (m.node_address.IsEmpty()) {
    return Error(sdk::kErrInvalidAddress, "node address cannot be empty");
  }
  if (m.new_bond_provider_address.IsEmpty()) {
    return Error(sdk::kErrInvalidAddress, "new bond address cannot be empty");
  }
  // Without coins the transaction isn't valid as such.
  if (m.tx_in.id.IsEmpty()) return Error(sdk::kErrUnknownRequest, "tx id cannot be empty");
  if (m.tx_in.from_address.IsEmpty()) {
    return Error(sdk::kErrInvalidAddress, "tx from address cannot be empty");
  }
  if (m.signer.IsEmpty()) return Error(sdk::kErrInvalidAddress, "empty signer address");
  return {};
}

Error HandleInternal(Managers& mgr, const Context& ctx, const MsgReBond& message) {
  const Keeper& k = *mgr.keeper;
  KEEPER_RETURN_IF_ERROR(Validate(k, ctx, message));
  if (GetConfigInt64(k, ctx, ConstantName::kHaltRebond) > 0) {
    return Error::New("rebond has been disabled by mimir");
  }
  const Result<NodeAccount> node = GetNodeAccount(k, ctx, message.node_address);
  if (!node.ok()) return NodeError(k, "node account", message.node_address, node.error());
  Result<BondProviders> providers = GetBondProviders(k, ctx, message.node_address);
  if (!providers.ok()) {
    return NodeError(k, "bond providers", message.node_address, providers.error());
  }
  KEEPER_RETURN_IF_ERROR(AddOperatorIfNoProviders(k, ctx, *node, &*providers));
  AdjustBonds(&*providers, node->bond);

  const BondProvider* from = FindProvider(*providers, message.signer);
  if (from == nullptr) return Error(sdk::kErrUnknownRequest, "old bond provider not found");
  const Uint before = from->bond;
  if (before.IsZero()) return Error(sdk::kErrUnknownRequest, "bond is zero");
  if (!HasProvider(*providers, message.new_bond_provider_address)) {
    return Error(sdk::kErrUnknownRequest, "new bond provider not found");
  }
  const Uint amount = message.amount.IsZero() ? before : std::min(message.amount, before);
  SubBond(&*providers, message.signer, amount);
  AddBond(&*providers, message.new_bond_provider_address, amount);
  if (amount == before) RemoveProvider(&*providers, message.signer);
  SetNodeAccount(k, ctx, *node);
  SetBondProviders(k, ctx, *providers);

  sdk::Event event("rebond", {{"amount", amount.ToString()},
                              {"node_address", ToText(k, node->node_address)},
                              {"old_bond_address", ToText(k, message.signer)},
                              {"new_bond_address", ToText(k, message.new_bond_provider_address)}});
  AddTxAttributes(message.tx_in, &event);
  ctx.events().Emit(std::move(event));
  return {};
}

}  // namespace blockreplay::keeper::thorchain
