#pragma once

// The gas manager: what outbound transactions may and do cost.

#include <string_view>

#include "keeper/thorchain/managers.h"

namespace blockreplay::keeper::thorchain {

// What an outbound of the asset costs its recipient: the chain's fee times the multiplier that
// follows from the surplus of fees, at least MinimumL1OutboundFeeUSD. In units of the asset, or in
// RUNE. Zero for native assets and while there is no fee or price.
Result<Uint> GetAssetOutboundFee(const Keeper& k, const Context& ctx, const Asset& asset,
                                 bool in_rune);

struct GasDetails {
  Coin max_gas;
  int64_t gas_rate = 0;
};
// The most gas a transaction on the chain may take, and its rate. An error if there is no fee yet.
Result<GasDetails> GetGasDetails(const Keeper& k, const Context& ctx, const Chain& chain);

// For the end block: gas that was spent to send `asset`.
void AddGasAsset(Managers& mgr, const Asset& asset, const Gas& gas, bool count_transaction);

}  // namespace blockreplay::keeper::thorchain
