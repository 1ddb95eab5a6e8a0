#pragma once

// bond_providers/

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

// Without providers and fee if there is no record.
Result<BondProviders> GetBondProviders(const Keeper& k, const Context& ctx, const AccAddress& node);
void SetBondProviders(const Keeper& k, const Context& ctx, const BondProviders& providers);
void DeleteBondProviders(const Keeper& k, const Context& ctx, const AccAddress& node);

// ---- Without the store ----

// Null if it isn't one of them. The pointer holds until the list changes.
const BondProvider* FindProvider(const BondProviders& providers, const AccAddress& address);
inline bool HasProvider(const BondProviders& providers, const AccAddress& address) {
  return FindProvider(providers, address) != nullptr;
}
void AddBond(BondProviders* providers, const AccAddress& address, const Uint& bond);
void SubBond(BondProviders* providers, const AccAddress& address, const Uint& bond);
// Only one without bond, and never the first one, who is the operator. True if it was removed.
bool RemoveProvider(BondProviders* providers, const AccAddress& address);
// Shares out what the node's bond gained or lost since: the operator's fee comes first, and what
// rounding leaves is the operator's.
void AdjustBonds(BondProviders* providers, const Uint& node_bond);

}  // namespace blockreplay::keeper::thorchain
