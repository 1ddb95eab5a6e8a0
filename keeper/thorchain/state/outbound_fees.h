#pragma once

// outbound_fee_withheld_rune/ and outbound_fee_spent_rune/: RUNE that the reserve took for
// outbounds of an asset, and paid for their gas.

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

// What an outbound of RUNE costs.
Uint GetOutboundTxFee(const Keeper& k, const Context& ctx);

// Zero is written over with the surplus at which fees are not multiplied.
Result<Uint> GetOutboundFeeWithheldRune(const Keeper& k, const Context& ctx, const Asset& asset);
Error AddToOutboundFeeWithheldRune(const Keeper& k, const Context& ctx, const Asset& asset,
                                   const Uint& amount);
Uint GetOutboundFeeSpentRune(const Keeper& k, const Context& ctx, const Asset& asset);
Error AddToOutboundFeeSpentRune(const Keeper& k, const Context& ctx, const Asset& asset,
                                const Uint& amount);
// The surplus of fees at which their multiplier is that many basis points.
Uint GetSurplusForTargetMultiplier(const Keeper& k, const Context& ctx, const Uint& target);

}  // namespace blockreplay::keeper::thorchain
