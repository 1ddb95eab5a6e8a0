#pragma once

// bond_providers/

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

// Without providers and fee if there is no record.
Result<BondProviders> GetBondProviders(const Keeper& k, const Context& ctx, const AccAddress& node);
void SetBondProviders(const Keeper& k, const Context& ctx, const BondProviders& providers);
void DeleteBondProviders(const Keeper& k, const Context& ctx, const AccAddress& node);

}  // namespace blockreplay::keeper::thorchain
