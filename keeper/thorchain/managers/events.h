#pragma once

// Events that several managers and handlers emit.

#include <string_view>

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

// Nothing for an empty fee.
void EmitFeeEvent(const Context& ctx, const TxID& tx_id, const Fee& fee);
void EmitMintBurnEvent(const Context& ctx, MintBurnSupplyType supply, const Coin& coin,
                       std::string_view reason);
void EmitScheduledOutboundEvent(const Context& ctx, const TxOutItem& item);
void EmitSecurityEvent(const Context& ctx, const Tx& tx, std::string_view message);
void EmitRefundEvent(const Context& ctx, uint32_t code, std::string_view reason, const Tx& tx);
void EmitReserveEvent(const Context& ctx, const Address& contributor, const Uint& amount,
                      const Tx& tx);
void EmitOutboundEvent(const Context& ctx, const TxID& in_hash, const Tx& tx);

// The attributes that describe a transaction, after those the event has.
void AddTxAttributes(const Tx& tx, sdk::Event* event);

}  // namespace blockreplay::keeper::thorchain
