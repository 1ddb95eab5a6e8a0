#pragma once

// How much liquidity the network takes.

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

// RUNE in all pools that are real and not suspended.
Result<Uint> TotalLiquidityRune(const Keeper& k, const Context& ctx);
// What the vaults hold, and those coins, are worth more than the nodes' bond secures. Never where
// StrictBondLiquidityRatio is off.
bool IsAtTvlCap(const Keeper& k, const Context& ctx, const Coins& coins);
// An error unless that much of the synthetic asset may be minted.
Error CheckSynthMint(const Keeper& k, const Context& ctx, const Asset& asset, const Uint& amount);

}  // namespace blockreplay::keeper::thorchain
