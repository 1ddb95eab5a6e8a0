#include "keeper/thorchain/state/oracle_prices.h"

namespace blockreplay::keeper::thorchain {

Result<OraclePrice> GetOraclePrice(const Keeper& k, const Context& ctx, std::string_view symbol) {
  OraclePrice price;
  KEEPER_ASSIGN_OR_RETURN(const bool found,
                          GetRecord(k, ctx, StoreKey(kOraclePricePrefix, symbol), &price));
  if (!found) return Error::New(sdk::StrCat("Price not found: ", symbol));
  return price;
}

void SetOraclePrice(const Keeper& k, const Context& ctx, const OraclePrice& price) {
  if (price.symbol.empty() || price.price.empty()) return;
  SetRecord(k, ctx, StoreKey(kOraclePricePrefix, price.symbol), price);
}

void DeleteOraclePrice(const Keeper& k, const Context& ctx, std::string_view symbol) {
  DeleteKey(k, ctx, StoreKey(kOraclePricePrefix, symbol));
}

}  // namespace blockreplay::keeper::thorchain
