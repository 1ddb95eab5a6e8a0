#include "keeper/thorchain/managers/liquidity_events.h"

#include <utility>

namespace blockreplay::keeper::thorchain {
namespace {

void EmitWithTransactions(const Context& ctx, sdk::Event event, const LiquidityEvent& liquidity) {
  event.Add("rune_address", liquidity.rune_address.ToString());
  event.Add("rune_amount", liquidity.rune.ToString());
  event.Add("asset_amount", liquidity.asset.ToString());
  event.Add("asset_address", liquidity.asset_address.ToString());
  if (!(liquidity.rune_tx == liquidity.asset_tx) && !liquidity.rune_tx.IsEmpty()) {
    event.Add("THOR_txid", liquidity.rune_tx.ToString());
  }
  if (!liquidity.asset_tx.IsEmpty()) {
    event.Add(liquidity.pool.chain.ToString() + "_txid", liquidity.asset_tx.ToString());
  }
  ctx.events().Emit(std::move(event));
}

}  // namespace

void EmitPendingLiquidityEvent(const Context& ctx, PendingLiquidityType type,
                               const LiquidityEvent& liquidity) {
  EmitWithTransactions(
      ctx,
      sdk::Event("pending_liquidity", {{"pool", liquidity.pool.ToString()}, {"type", Name(type)}}),
      liquidity);
}

void EmitAddLiquidityEvent(const Context& ctx, const LiquidityEvent& liquidity, const Uint& units) {
  EmitWithTransactions(
      ctx,
      sdk::Event("add_liquidity", {{"pool", liquidity.pool.ToString()},
                                   {"liquidity_provider_units", units.ToString()}}),
      liquidity);
}

void EmitPoolEvent(const Context& ctx, const Asset& pool, PoolStatus status) {
  ctx.events().Emit(sdk::Event("pool", {{"pool", pool.ToString()}, {"pool_status", Name(status)}}));
}

}  // namespace blockreplay::keeper::thorchain
