#pragma once

// tr_acct/ and tr_unit/: who owns which share of the trade assets.

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

// Without units if there is none.
Result<TradeAccount> GetTradeAccount(const Keeper& k, const Context& ctx, const AccAddress& owner,
                                     const Asset& asset);
void SetTradeAccount(const Keeper& k, const Context& ctx, const TradeAccount& account);
void RemoveTradeAccount(const Keeper& k, const Context& ctx, const TradeAccount& account);
// All units of the asset, and what they are worth.
Result<TradeUnit> GetTradeUnit(const Keeper& k, const Context& ctx, const Asset& asset);
void SetTradeUnit(const Keeper& k, const Context& ctx, const TradeUnit& unit);

}  // namespace blockreplay::keeper::thorchain
