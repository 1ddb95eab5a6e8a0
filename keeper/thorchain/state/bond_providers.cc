#include "keeper/thorchain/state/bond_providers.h"

#include <algorithm>
#include <string>

#include "keeper/thorchain/state/pub_keys.h"

namespace blockreplay::keeper::thorchain {
namespace {

std::string Key(const Keeper& k, const AccAddress& node) {
  return StoreKey("bond_providers/", ToText(k, node));
}

auto Find(auto& providers, const AccAddress& address) {
  return std::find_if(providers.begin(), providers.end(), [&](const BondProvider& provider) {
    return provider.bond_address == address;
  });
}

}  // namespace

Result<BondProviders> GetBondProviders(const Keeper& k, const Context& ctx,
                                       const AccAddress& node) {
  BondProviders providers;
  providers.node_address = node;
  const Result<bool> found = GetRecord(k, ctx, Key(k, node), &providers);
  if (!found.ok()) return found.error();
  return providers;
}

void SetBondProviders(const Keeper& k, const Context& ctx, const BondProviders& providers) {
  SetRecord(k, ctx, Key(k, providers.node_address), providers);
}

void DeleteBondProviders(const Keeper& k, const Context& ctx, const AccAddress& node) {
  DeleteKey(k, ctx, Key(k, node));
}

const BondProvider* FindProvider(const BondProviders& providers, const AccAddress& address) {
  const auto it = Find(providers.providers, address);
  // The node takes a provider without address for none.
  return it == providers.providers.end() || address.IsEmpty() ? nullptr : &*it;
}

void AddBond(BondProviders* providers, const AccAddress& address, const Uint& bond) {
  const auto it = Find(providers->providers, address);
  if (it != providers->providers.end()) it->bond += bond;
}

void SubBond(BondProviders* providers, const AccAddress& address, const Uint& bond) {
  const auto it = Find(providers->providers, address);
  if (it != providers->providers.end()) it->bond = SafeSub(it->bond, bond);
}

bool RemoveProvider(BondProviders* providers, const AccAddress& address) {
  std::vector<BondProvider>& list = providers->providers;
  if (list.empty()) return false;
  const auto it = std::find_if(list.begin() + 1, list.end(), [&](const BondProvider& provider) {
    return provider.bond_address == address && provider.bond.IsZero();
  });
  if (it == list.end()) return false;
  list.erase(it);
  return true;
}

void AdjustBonds(BondProviders* providers, const Uint& node_bond) {
  std::vector<BondProvider>& list = providers->providers;
  if (list.empty()) return;
  Uint before;
  for (const BondProvider& provider : list) before += provider.bond;
  if (before == node_bond) return;

  Uint fee;
  if (before < node_bond) {
    fee = GetSafeShare(providers->node_operator_fee, kMaxBasisPoints, SafeSub(node_bond, before));
  }
  const Uint shared = SafeSub(node_bond, fee);
  Uint left = shared;
  for (size_t i = 1; i < list.size(); ++i) {
    list[i].bond = GetSafeShare(list[i].bond, before, shared);
    left = SafeSub(left, list[i].bond);
  }
  list[0].bond = left + fee;
}

}  // namespace blockreplay::keeper::thorchain
