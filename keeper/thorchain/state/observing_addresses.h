#pragma once

// observing_addresses/: who observed something in this block.

#include <vector>

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

std::vector<AccAddress> GetObservingAddresses(const Keeper& k, const Context& ctx);
// Each address once, in the order of coming.
void AddObservingAddresses(const Keeper& k, const Context& ctx,
                           const std::vector<AccAddress>& addresses);
void ClearObservingAddresses(const Keeper& k, const Context& ctx);

}  // namespace blockreplay::keeper::thorchain
