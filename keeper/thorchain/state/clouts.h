#pragma once

// sclout/: the trust that a swapper earned by fees, which shortens the delay of outbounds.

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

// Without clout if there is none. Reads nothing for an empty address.
Result<SwapperClout> GetSwapperClout(const Keeper& k, const Context& ctx, const Address& address);
void SetSwapperClout(const Keeper& k, const Context& ctx, const SwapperClout& clout);

// ---- Without the store ----

Uint AvailableClout(const SwapperClout& clout);
Uint ClaimableClout(const SwapperClout& clout);
void ReclaimClout(SwapperClout* clout, const Uint& value);
// Gives everything back if nothing was spent for more than `limit` blocks.
void RestoreClout(SwapperClout* clout, int64_t height, int64_t limit);

}  // namespace blockreplay::keeper::thorchain
