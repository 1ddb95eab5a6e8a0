#include "keeper/thorchain/handlers/maint.h"

#include <string>

#include "keeper/thorchain/handlers/handler.h"
#include "keeper/thorchain/state/node_accounts.h"
#include "keeper/thorchain/state/pub_keys.h"

namespace blockreplay::keeper::thorchain {
namespace {

Error Authorize(const Keeper& k, const Context& ctx, const MsgMaint& message) {
  const Error refused(sdk::kErrUnauthorized,
                      sdk::StrCat(ToText(k, message.node_address), " is not authorized"));
  const Result<SharedNodeAccount> node = ReadNodeAccount(k, ctx, message.node_address);
  if (!node.ok() || (*node)->status == NodeStatus::Unknown) return refused;
  const auto op = (*node)->bond_address.ToAccAddress(k.network());
  if (!op.ok()) return Error::New(std::string(op.status().message()));
  return *op == message.signer ? Error() : refused;
}

}  // namespace

Error ValidateBasic(const Keeper& k, const MsgMaint& message) {
  for (const AccAddress* address : {&message.signer, &message.node_address}) {
    if (!IsValidAccAddress(*address)) {
      return Error(sdk::kErrInvalidAddress, address->ToString(k.network()));
    }
  }
  return {};
}

Error HandleInternal(Managers& mgr, const Context& ctx, const MsgMaint& message) {
  const Keeper& k = *mgr.keeper;
  KEEPER_RETURN_IF_ERROR(ValidateBasic(k, message));
  KEEPER_RETURN_IF_ERROR(Authorize(k, ctx, message));
  Result<NodeAccount> node = GetNodeAccount(k, ctx, message.node_address);
  if (!node.ok()) {
    return Error(sdk::kErrUnauthorized,
                 sdk::StrCat("unable to find account: ", ToText(k, message.node_address)));
  }
  node->maintenance = !node->maintenance;
  SetNodeAccount(k, ctx, *node);
  ctx.events().Emit(
      sdk::Event("toggle_maintenance", {{"node_address", ToText(k, message.node_address)},
                                        {"maintenance", node->maintenance ? "on" : "off"}}));
  return {};
}

}  // namespace blockreplay::keeper::thorchain
