#pragma once

// affcol/: RUNE that waits to be swapped to the asset an affiliate prefers, by the owner of the
// affiliate's names.

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

// Without RUNE if there is none.
Result<AffiliateFeeCollector> GetAffiliateCollector(const Keeper& k, const Context& ctx,
                                                    const AccAddress& owner);
void SetAffiliateCollector(const Keeper& k, const Context& ctx,
                           const AffiliateFeeCollector& collector);

}  // namespace blockreplay::keeper::thorchain
