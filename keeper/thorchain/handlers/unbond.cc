#include "keeper/thorchain/handlers/unbond.h"

#include <string>
#include <utility>

#include "keeper/thorchain/managers/bonds.h"
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

Error Validate(const Keeper& k, const Context& ctx, const MsgUnBond& message) {
  KEEPER_RETURN_IF_ERROR(ValidateBasic(k, message));
  if (!message.tx_in.coins.IsEmpty()) {
    return Error(sdk::kErrUnknownRequest, "unbond message cannot have a non-zero coin amount");
  }
  const Result<SharedNodeAccount> node = ReadNodeAccount(k, ctx, message.node_address);
  if (!node.ok()) return NodeError(k, "node account", message.node_address, node.error());
  if ((*node)->status == NodeStatus::Active || (*node)->status == NodeStatus::Ready) {
    return Error(sdk::kErrUnknownRequest, "cannot unbond while node is in active or ready status");
  }
  if (GetConfigInt64(k, ctx, ConstantName::kPauseUnbond) > 0) {
    return InternalError({}, "unbonding has been paused");
  }
  const Result<BondProviders> providers = GetBondProviders(k, ctx, message.node_address);
  if (!providers.ok()) {
    return NodeError(k, "bond providers", message.node_address, providers.error());
  }
  const auto from = message.bond_address.ToAccAddress(k.network());
  if (!from.ok()) {
    return InternalError(
        Error::New(std::string(from.status().message())),
        sdk::StrCat("fail to parse bond address(", message.bond_address.ToString(), ")"));
  }
  if (!HasProvider(*providers, *from) && !((*node)->bond_address == message.bond_address)) {
    return Error(sdk::kErrUnauthorized,
                 sdk::StrCat(message.bond_address.ToString(), " are not authorized to manage ",
                             ToText(k, message.node_address)));
  }
  return {};
}

// Of an operator: takes bond from another provider, who is removed when nothing is left of it.
Error UnbondProvider(const Keeper& k, const Context& ctx, const MsgUnBond& message,
                     NodeAccount* node) {
  const AccAddress& address = message.bond_provider_address;
  if (Error error = RefundBond(k, ctx, message.tx_in, address, message.amount, node); error) {
    return InternalError(error, "fail to unbond");
  }
  const auto op = node->bond_address.ToAccAddress(k.network());
  if (!op.ok()) {
    return InternalError(Error::New(std::string(op.status().message())), "fail to refund bond");
  }
  if (*op == address) return {};
  Result<BondProviders> providers = GetBondProviders(k, ctx, node->node_address);
  if (!providers.ok()) {
    return NodeError(k, "bond providers", node->node_address, providers.error());
  }
  if (RemoveProvider(&*providers, address)) SetBondProviders(k, ctx, *providers);
  return {};
}

}  // namespace

Error ValidateBasic(const Keeper&, const MsgUnBond& m) {
  if (m.node_address.IsEmpty()) {
    return Error(sdk::kErrInvalidAddress, "node address cannot be empty");
  }
  if (m.bond_address.IsEmpty()) {
    return Error(sdk::kErrInvalidAddress, "bond address cannot be empty");
  }
  // Without coins the transaction isn't valid as such.
  if (m.tx_in.id.IsEmpty()) return Error(sdk::kErrUnknownRequest, "tx id cannot be empty");
  if (m.tx_in.from_address.IsEmpty()) {
    return Error(sdk::kErrInvalidAddress, "tx from address cannot be empty");
  }
  if (m.signer.IsEmpty()) return Error(sdk::kErrInvalidAddress, "empty signer address");
  return {};
}

Error HandleInternal(Managers& mgr, const Context& ctx, const MsgUnBond& message) {
  const Keeper& k = *mgr.keeper;
  KEEPER_RETURN_IF_ERROR(Validate(k, ctx, message));
  Result<NodeAccount> node = GetNodeAccount(k, ctx, message.node_address);
  if (!node.ok()) return NodeError(k, "node account", message.node_address, node.error());
  KEEPER_RETURN_IF_ERROR(CheckBondLockup(k, ctx, *node));
  KEEPER_ASSIGN_OR_RETURN(const bool retiring, IsMemberOfRetiringVault(k, ctx, *node));
  if (retiring) return InternalError({}, "fail to unbond, still part of the retiring vault");

  if (message.bond_address == node->bond_address && !message.bond_provider_address.IsEmpty()) {
    return UnbondProvider(k, ctx, message, &*node);
  }
  const auto from = AccAddress::FromBech32(message.bond_address.ToString(), k.network());
  if (!from.ok()) {
    return InternalError(Error::New(std::string(from.status().message())),
                         "fail to parse from address");
  }
  if (Error error = RefundBond(k, ctx, message.tx_in, *from, message.amount, &*node); error) {
    return InternalError(error, "fail to unbond");
  }
  return {};
}

}  // namespace blockreplay::keeper::thorchain
