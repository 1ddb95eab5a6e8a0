#pragma once

// The outbound manager: what leaves THORChain's vaults and modules. From an amount somebody is owed
// to items that vaults sign at some height, or to a transfer at once for native assets.

#include <utility>
#include <vector>

#include "keeper/thorchain/managers.h"

namespace blockreplay::keeper::thorchain {

// Chooses vaults, takes fees, and schedules, unless less than `min_out` would be left. True if it
// went through; an item that nothing is left of is an error. An error leaves no writes and events,
// but the gas.
Result<bool> TryAddTxOutItem(Managers& mgr, const Context& ctx, TxOutItem item,
                             const Uint& min_out);
// Schedules the item as it is at that height: no choice of vaults, no fees.
Error UnsafeAddTxOutItem(Managers& mgr, const Context& ctx, TxOutItem item, int64_t height);

// The height at which the item may leave, and the clout spent to leave earlier.
std::pair<int64_t, Uint> CalcTxOutHeight(Managers& mgr, const Context& ctx, const TxOutItem& item);

// Items with the vaults that pay them, each at most what its vault holds.
// The second is what no vault could take.
std::pair<std::vector<TxOutItem>, Uint> DiscoverOutbounds(Managers& mgr, const Context& ctx,
                                                          const Uint& fee, const Coin& max_gas,
                                                          TxOutItem item,
                                                          std::vector<Vault> vaults);

}  // namespace blockreplay::keeper::thorchain
