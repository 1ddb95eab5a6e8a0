#pragma once

// The outbound manager: what leaves THORChain's vaults and modules. From an amount somebody is owed
// to items that vaults sign at some height, or to a transfer at once for native assets.

#include "keeper/thorchain/managers.h"
#include "keeper/thorchain/state/tx_outs.h"

namespace blockreplay::keeper::thorchain {

// Fees would take all of it.
inline constexpr sdk::ErrorCode kErrNotEnoughToPayFee{"not enough to pay fee", 1,
                                                      "not enough asset to pay for fees"};

// Chooses vaults, takes fees, and schedules, unless less than `min_out` would be left. True if it
// went through; an item that nothing is left of is an error. An error leaves no writes and events,
// but the gas.
Result<bool> TryAddTxOutItem(Managers& mgr, const Context& ctx, TxOutItem item,
                             const Uint& min_out);
// Schedules the item as it is at that height: no choice of vaults, no fees.
Error UnsafeAddTxOutItem(Managers& mgr, const Context& ctx, TxOutItem item, int64_t height);

}  // namespace blockreplay::keeper::thorchain
