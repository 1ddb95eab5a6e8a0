#include "keeper/thorchain/managers/vault_rotation.h"

#include <algorithm>

#include "keeper/thorchain/state/node_accounts.h"
#include "keeper/thorchain/state/vaults.h"

namespace blockreplay::keeper::thorchain {
namespace {

void RemoveInactive(const Keeper& k, const Context& ctx) {
  const Result<Vaults> vaults = GetAsgardVaults(k, ctx);
  // An error here is only logged.
  if (!vaults.ok()) return;
  for (const Vault& vault : *vaults) {
    if (vault.status == VaultStatus::InactiveVault && !vault.pub_key.IsEmpty()) {
      RemoveFromAsgardIndex(k, ctx, vault.pub_key);
    }
  }
}

}  // namespace

Error RotateVault(const Keeper& k, const Context& ctx, Vault vault) {
  KEEPER_ASSIGN_OR_RETURN(const Vaults active,
                          GetAsgardVaultsByStatus(k, ctx, VaultStatus::ActiveVault));
  for (Vault old : active) {
    const std::vector<PubKey> members = GetMembership(k, old);
    if (std::none_of(members.begin(), members.end(),
                     [&](const PubKey& member) { return IsMember(k, vault, member); })) {
      continue;
    }
    UpdateStatus(&old, VaultStatus::RetiringVault, ctx.height());
    KEEPER_RETURN_IF_ERROR(SetVault(k, ctx, old));
    ctx.events().Emit(
        sdk::Event("InactiveVault", {{"set asgard vault to inactive", old.pub_key.ToString()}}));
  }
  const std::string& key = vault.pub_key.ToString();
  for (const PubKey& member : GetMembership(k, vault)) {
    KEEPER_ASSIGN_OR_RETURN(NodeAccount account, GetNodeAccountByPubKey(k, ctx, member));
    auto& vaults = account.signer_membership;
    if (!key.empty() && std::find(vaults.begin(), vaults.end(), key) == vaults.end()) {
      vaults.push_back(key);
    }
    SetNodeAccount(k, ctx, account);
  }
  UpdateStatus(&vault, VaultStatus::ActiveVault, ctx.height());
  KEEPER_RETURN_IF_ERROR(SetVault(k, ctx, vault));
  ctx.events().Emit(sdk::Event("ActiveVault", {{"add new asgard vault", key}}));
  RemoveInactive(k, ctx);
  return {};
}

}  // namespace blockreplay::keeper::thorchain
