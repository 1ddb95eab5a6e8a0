#include "keeper/thorchain/managers/events.h"

#include <string>
#include <utility>

namespace blockreplay::keeper::thorchain {

void EmitFeeEvent(const Context& ctx, const TxID& tx_id, const Fee& fee) {
  if (fee.coins.IsEmpty() && fee.pool_deduct.IsZero()) return;
  ctx.events().Emit(sdk::Event("fee", {{"tx_id", tx_id.ToString()},
                                       {"coins", fee.coins.ToString()},
                                       {"pool_deduct", fee.pool_deduct.ToString()}}));
}

void EmitMintBurnEvent(const Context& ctx, MintBurnSupplyType supply, const Coin& coin,
                       std::string_view reason) {
  ctx.events().Emit(sdk::Event("mint_burn", {{"supply", std::string(Name(supply))},
                                             {"denom", coin.asset.Native()},
                                             {"amount", coin.amount.ToString()},
                                             {"reason", std::string(reason)}}));
}

void EmitScheduledOutboundEvent(const Context& ctx, const TxOutItem& item) {
  sdk::Event event("scheduled_outbound", {{"chain", item.chain.ToString()},
                                          {"to_address", item.to_address.ToString()},
                                          {"vault_pub_key", item.vault_pub_key.ToString()},
                                          {"coin_asset", item.coin.asset.ToString()},
                                          {"coin_amount", item.coin.amount.ToString()},
                                          {"coin_decimals", std::to_string(item.coin.decimals)},
                                          {"memo", item.memo},
                                          {"gas_rate", std::to_string(item.gas_rate)},
                                          {"in_hash", item.in_hash.ToString()},
                                          {"out_hash", item.out_hash.ToString()},
                                          {"module_name", item.module_name}});
  for (size_t i = 0; i < item.max_gas.size(); ++i) {
    const Coin& gas = item.max_gas[i];
    event.Add(sdk::StrCat("max_gas_asset_", i), gas.asset.ToString());
    event.Add(sdk::StrCat("max_gas_amount_", i), gas.amount.ToString());
    event.Add(sdk::StrCat("max_gas_decimals_", i), std::to_string(gas.decimals));
  }
  ctx.events().Emit(std::move(event));
}

void EmitSecurityEvent(const Context& ctx, const Tx& tx, std::string_view message) {
  sdk::Event event("security", {{"msg", std::string(message)}});
  AddTxAttributes(tx, &event);
  ctx.events().Emit(std::move(event));
}

void EmitRefundEvent(const Context& ctx, uint32_t code, std::string_view reason, const Tx& tx) {
  sdk::Event event("refund", {{"code", std::to_string(code)}, {"reason", std::string(reason)}});
  AddTxAttributes(tx, &event);
  ctx.events().Emit(std::move(event));
}

void EmitReserveEvent(const Context& ctx, const Address& contributor, const Uint& amount,
                      const Tx& tx) {
  sdk::Event event(
      "reserve", {{"contributor_address", contributor.ToString()}, {"amount", amount.ToString()}});
  AddTxAttributes(tx, &event);
  ctx.events().Emit(std::move(event));
}

void EmitOutboundEvent(const Context& ctx, const TxID& in_hash, const Tx& tx) {
  sdk::Event event("outbound", {{"in_tx_id", in_hash.ToString()}});
  AddTxAttributes(tx, &event);
  ctx.events().Emit(std::move(event));
}

void AddTxAttributes(const Tx& tx, sdk::Event* event) {
  for (const auto& [key, value] : tx.ToAttributes()) event->Add(key, value);
}

}  // namespace blockreplay::keeper::thorchain
