#include "keeper/thorchain/state/bond_providers.h"

#include <string>

#include "keeper/thorchain/state/pub_keys.h"

namespace blockreplay::keeper::thorchain {
namespace {

std::string Key(const Keeper& k, const AccAddress& node) {
  return StoreKey("bond_providers/", ToText(k, node));
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

}  // namespace blockreplay::keeper::thorchain
