#pragma once

// network_fee/: what the nodes agree a transaction costs on a chain.

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

// Zero size and rate if there is none.
Result<NetworkFee> GetNetworkFee(const Keeper& k, const Context& ctx, const Chain& chain);
// An error if it isn't valid.
Error SaveNetworkFee(const Keeper& k, const Context& ctx, const Chain& chain,
                     const NetworkFee& fee);

// ---- Without the store ----

// Chain, size and rate are given.
Error CheckNetworkFee(const NetworkFee& fee);

}  // namespace blockreplay::keeper::thorchain
