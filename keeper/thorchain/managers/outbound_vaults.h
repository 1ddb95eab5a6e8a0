#pragma once

// Which vaults pay an outbound.

#include "keeper/thorchain/state/tx_outs.h"
#include "keeper/thorchain/state/vaults.h"

namespace blockreplay::keeper::thorchain {

// The active and retiring vaults that pay it: active ones first, the least secure first, as few as
// possible. What no vault has at the moment is given to one of them to wait there. `fee` is what
// the outbound costs its recipient, `max_gas` what it may take of the vault.
Result<TxOutItems> ChooseVaults(const Keeper& k, const Context& ctx, const Uint& fee,
                                const Coin& max_gas, const TxOutItem& item);

// The same among these vaults, in their order. The second is what couldn't be given to any.
std::pair<TxOutItems, Uint> DiscoverOutbounds(const Keeper& k, const Context& ctx, const Uint& fee,
                                              const Coin& max_gas, TxOutItem item, Vaults vaults);

}  // namespace blockreplay::keeper::thorchain
