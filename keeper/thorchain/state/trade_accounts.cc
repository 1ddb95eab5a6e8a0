#include "keeper/thorchain/state/trade_accounts.h"

#include "keeper/thorchain/state/pub_keys.h"

namespace blockreplay::keeper::thorchain {
namespace {

std::string AccountKey(const Keeper& k, const AccAddress& owner, const Asset& asset) {
  return StoreKey("tr_acct/", ToText(k, owner), "/", asset.ToString());
}

std::string UnitKey(const Asset& asset) { return StoreKey("tr_unit/", asset.ToString()); }

}  // namespace

Result<TradeAccount> GetTradeAccount(const Keeper& k, const Context& ctx, const AccAddress& owner,
                                     const Asset& asset) {
  TradeAccount account;
  const Result<bool> found = GetRecord(k, ctx, AccountKey(k, owner, asset), &account);
  if (!found.ok()) return found.error();
  if (!*found) {
    account.owner = owner;
    account.asset = asset;
  }
  return account;
}

void SetTradeAccount(const Keeper& k, const Context& ctx, const TradeAccount& account) {
  SetRecord(k, ctx, AccountKey(k, account.owner, account.asset), account);
}

void RemoveTradeAccount(const Keeper& k, const Context& ctx, const TradeAccount& account) {
  DeleteKey(k, ctx, AccountKey(k, account.owner, account.asset));
}

Result<TradeUnit> GetTradeUnit(const Keeper& k, const Context& ctx, const Asset& asset) {
  TradeUnit unit;
  const Result<bool> found = GetRecord(k, ctx, UnitKey(asset), &unit);
  if (!found.ok()) return found.error();
  if (!*found) unit.asset = asset;
  return unit;
}

void SetTradeUnit(const Keeper& k, const Context& ctx, const TradeUnit& unit) {
  SetRecord(k, ctx, UnitKey(unit.asset), unit);
}

}  // namespace blockreplay::keeper::thorchain
