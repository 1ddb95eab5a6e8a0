#pragma once

// ob_link/: outbound transactions by the inbound they name in their memo.

#include <vector>

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

void SetObservedLink(const Keeper& k, const Context& ctx, const TxID& in_hash,
                     const TxID& out_hash);
std::vector<TxID> GetObservedLink(const Keeper& k, const Context& ctx, const TxID& in_hash);

}  // namespace blockreplay::keeper::thorchain
