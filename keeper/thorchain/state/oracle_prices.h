#pragma once

// oracle_price/: prices of the block, which the next one's begin deletes.

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

inline constexpr std::string_view kOraclePricePrefix = "oracle_price/";

// An error if there is none.
Result<OraclePrice> GetOraclePrice(const Keeper& k, const Context& ctx, std::string_view symbol);
// Does nothing without symbol or price.
void SetOraclePrice(const Keeper& k, const Context& ctx, const OraclePrice& price);
void DeleteOraclePrice(const Keeper& k, const Context& ctx, std::string_view symbol);

}  // namespace blockreplay::keeper::thorchain
