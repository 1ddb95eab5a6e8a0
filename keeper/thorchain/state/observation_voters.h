#pragma once

// solvency_voter/ and errata/: votes on what vaults really hold, and on transactions that other
// chains dropped.

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

// Empty if there is none.
Result<SolvencyVoter> GetSolvencyVoter(const Keeper& k, const Context& ctx, const TxID& id,
                                       const Chain& chain);
void SetSolvencyVoter(const Keeper& k, const Context& ctx, const SolvencyVoter& voter);

// With transaction and chain only if there is none.
Result<ErrataTxVoter> GetErrataTxVoter(const Keeper& k, const Context& ctx, const TxID& tx_id,
                                       const Chain& chain);
void SetErrataTxVoter(const Keeper& k, const Context& ctx, const ErrataTxVoter& voter);

}  // namespace blockreplay::keeper::thorchain
