#include "keeper/thorchain/handlers/node_auth.h"

#include <utility>
#include <vector>

#include "keeper/thorchain/modules.h"
#include "keeper/thorchain/state/funds.h"
#include "keeper/thorchain/state/node_accounts.h"

namespace blockreplay::keeper::thorchain {
namespace {

bool IsEmpty(const NodeAccount& account) {
  return account.node_address.IsEmpty() || account.status == NodeStatus::Unknown;
}

Error NotAuthorized(const Keeper& k, const AccAddress& signer) {
  return Error(sdk::kErrUnauthorized,
               sdk::StrCat(signer.ToString(k.network()), " is not authorized"));
}

}  // namespace

Error CheckActiveValidator(const Keeper& k, const Context& ctx, const AccAddress& signer) {
  const std::string text = signer.ToString(k.network());
  const Result<SharedNodeAccount> account = ReadNodeAccount(k, ctx, signer);
  if (!account.ok())
    return Error::Opaque(sdk::StrCat("error fetching node account: ", text), account.error());
  if (IsEmpty(**account))
    return Error::New(sdk::StrCat("node account is unexpectedly empty: ", text));
  if ((*account)->status != NodeStatus::Active) {
    return Error::New(
        sdk::StrCat("node account ", text, " not active: ", Name((*account)->status)));
  }
  if ((*account)->type != NodeType::TypeValidator) {
    return Error::New(
        sdk::StrCat("node account ", text, " must be a validator: ", Name((*account)->type)));
  }
  return {};
}

bool IsActiveValidator(const Keeper& k, const Context& ctx, const AccAddress& signer) {
  return signer == ModuleAccAddress(k, kAsgardModule) || CheckActiveValidator(k, ctx, signer).ok();
}

Error RequireActiveValidator(const Keeper& k, const Context& ctx, const AccAddress& signer) {
  if (IsActiveValidator(k, ctx, signer)) return {};
  return Error(sdk::kErrUnauthorized,
               sdk::StrCat("[", signer.ToString(k.network()), "] are not authorized"));
}

Error RequireValidator(const Keeper& k, const Context& ctx, const AccAddress& signer) {
  const Result<SharedNodeAccount> account = ReadNodeAccount(k, ctx, signer);
  if (!account.ok() || IsEmpty(**account) || (*account)->type != NodeType::TypeValidator) {
    return NotAuthorized(k, signer);
  }
  return {};
}

Error DeductNativeTxFeeFromBond(const Keeper& k, const Context& ctx, const AccAddress& node) {
  const Uint fee = GetNativeTxFee(k, ctx);
  if (fee.IsZero()) return {};
  KEEPER_ASSIGN_OR_RETURN(NodeAccount account, GetNodeAccount(k, ctx, node));
  if (account.bond < fee) return Error::New("not enound bond for fee");
  account.bond = SafeSub(account.bond, fee);
  SetNodeAccount(k, ctx, account);
  KEEPER_RETURN_IF_ERROR(
      SendFromModuleToModule(k, ctx, kBondModule, kReserveModule, {Coin(assets::kRune, fee)}));
  EmitBondEvent(k, ctx, fee, BondType::bond_cost, Tx(), account.node_address, AccAddress());
  return {};
}

void EmitBondEvent(const Keeper& k, const Context& ctx, const Uint& amount, BondType type,
                   const Tx& tx, const AccAddress& node, const AccAddress& bond_address) {
  sdk::Event event("bond", {{"amount", amount.ToString()},
                            {"bond_type", Name(type)},
                            {"node_address", node.ToString(k.network())},
                            {"bond_address", bond_address.ToString(k.network())}});
  for (const auto& [key, value] : tx.ToAttributes()) event.Add(key, value);
  ctx.events().Emit(std::move(event));
}

}  // namespace blockreplay::keeper::thorchain
