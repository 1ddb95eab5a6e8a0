#include "keeper/thorchain/managers/bonds.h"

#include <algorithm>
#include <string>
#include <utility>

#include "keeper/thorchain/handlers/node_auth.h"
#include "keeper/thorchain/multi_error.h"
#include "keeper/thorchain/state/bond_providers.h"
#include "keeper/thorchain/state/funds.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/node_accounts.h"
#include "keeper/thorchain/state/pub_keys.h"
#include "keeper/thorchain/state/vaults.h"

namespace blockreplay::keeper::thorchain {

Error AddOperatorIfNoProviders(const Keeper& k, const Context& ctx, const NodeAccount& node,
                               BondProviders* providers) {
  if (!providers->providers.empty()) return {};
  const auto op = node.bond_address.ToAccAddress(k.network());
  if (!op.ok()) {
    return InternalError(
        Error::New(std::string(op.status().message())),
        sdk::StrCat("fail to parse bond address(", node.bond_address.ToString(), ")"));
  }
  BondProvider provider;
  provider.bond_address = *op;
  provider.bond = node.bond;
  providers->providers.push_back(std::move(provider));
  providers->node_operator_fee =
      Uint(static_cast<uint64_t>(GetConfigInt64(k, ctx, ConstantName::kNodeOperatorFee)));
  return {};
}

Error RefundBond(const Keeper& k, const Context& ctx, const Tx& tx, const AccAddress& address,
                 const Uint& amount, NodeAccount* node) {
  if (node->status == NodeStatus::Active || node->status == NodeStatus::Ready) return {};
  Uint refund = amount.IsZero() ? node->bond : std::min(amount, node->bond);

  Result<BondProviders> providers = GetBondProviders(k, ctx, node->node_address);
  if (!providers.ok()) {
    return InternalError(providers.error(), sdk::StrCat("fail to get bond providers(",
                                                        ToText(k, node->node_address), ")"));
  }
  KEEPER_RETURN_IF_ERROR(AddOperatorIfNoProviders(k, ctx, *node, &*providers));
  AdjustBonds(&*providers, node->bond);

  const BondProvider* provider = FindProvider(*providers, address);
  if (provider != nullptr && !provider->bond.IsZero()) {
    refund = std::min(refund, provider->bond);
    SubBond(&*providers, address, refund);
    if (Error error =
            SendFromModuleToAccount(k, ctx, kBondModule, address, {Coin(assets::kRune, refund)});
        error) {
      return InternalError(error, "fail to send unbonded RUNE to bond address");
    }
    EmitBondEvent(k, ctx, refund, BondType::bond_returned, tx, node->node_address, address);
    node->bond = SafeSub(node->bond, refund);
  }
  // A node that asked to leave can't come back.
  if (node->requested_to_leave) UpdateStatus(node, NodeStatus::Disabled, ctx.height());
  SetNodeAccount(k, ctx, *node);
  SetBondProviders(k, ctx, *providers);
  return {};
}

Result<bool> IsMemberOfRetiringVault(const Keeper& k, const Context& ctx, const NodeAccount& node) {
  Result<Vaults> vaults = GetAsgardVaultsByStatus(k, ctx, VaultStatus::RetiringVault);
  if (!vaults.ok()) return InternalError(vaults.error(), "fail to get retiring vault");
  return std::any_of(vaults->begin(), vaults->end(), [&](const Vault& vault) {
    return IsMember(k, vault, node.pub_key_set.secp256k1);
  });
}

Error CheckBondLockup(const Keeper& k, const Context& ctx, const NodeAccount& node) {
  const int64_t period = GetConfigInt64(k, ctx, ConstantName::kBondLockupPeriod);
  if (ctx.height() - node.status_since >= period) return {};
  return Error::New(sdk::StrCat("node can not unbond before ", node.status_since + period));
}

}  // namespace blockreplay::keeper::thorchain
