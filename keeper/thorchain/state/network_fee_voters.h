#pragma once

// network_fee_voter/

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

// Votes for a size and rate at a height of a chain.
Result<ObservedNetworkFeeVoter> GetNetworkFeeVoter(const Keeper& k, const Context& ctx,
                                                   int64_t height, const Chain& chain, int64_t rate,
                                                   int64_t size);
void SetNetworkFeeVoter(const Keeper& k, const Context& ctx, const ObservedNetworkFeeVoter& voter);

}  // namespace blockreplay::keeper::thorchain
