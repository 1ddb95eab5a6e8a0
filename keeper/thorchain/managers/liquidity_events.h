#pragma once

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

// What events about liquidity have in common.
struct LiquidityEvent {
  Asset pool;
  Address rune_address;
  Address asset_address;
  Uint rune;
  Uint asset;
  // The transactions that each side came with.
  TxID rune_tx;
  TxID asset_tx;
};
// Coins that wait for the other side, or go back without it having come.
void EmitPendingLiquidityEvent(const Context& ctx, PendingLiquidityType type,
                               const LiquidityEvent& liquidity);
void EmitAddLiquidityEvent(const Context& ctx, const LiquidityEvent& liquidity, const Uint& units);
void EmitPoolEvent(const Context& ctx, const Asset& pool, PoolStatus status);

}  // namespace blockreplay::keeper::thorchain
