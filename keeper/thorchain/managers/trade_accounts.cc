#include "keeper/thorchain/managers/trade_accounts.h"

#include <string>

#include "keeper/thorchain/state/pub_keys.h"
#include "keeper/thorchain/state/trade_accounts.h"

namespace blockreplay::keeper::thorchain {
namespace {

Uint CalcDepositUnits(const Uint& units, const Uint& depth, const Uint& amount) {
  if (units.IsZero() || depth.IsZero()) return amount;
  return GetUncappedShare(amount, depth, units);
}

void EmitEvent(const Keeper& k, const Context& ctx, std::string type, const Uint& amount,
               const Asset& asset, const AccAddress& owner, const Address& asset_address,
               const TxID& tx_id) {
  ctx.events().Emit(sdk::Event(std::move(type), {{"amount", amount.ToString()},
                                                 {"asset", asset.ToString()},
                                                 {"rune_address", ToText(k, owner)},
                                                 {"asset_address", asset_address.ToString()},
                                                 {"tx_id", tx_id.ToString()}}));
}

}  // namespace

Uint TradeAccountBalance(const Keeper& k, const Context& ctx, const Asset& asset,
                         const AccAddress& owner) {
  const Asset trade = asset.GetTradeAsset();
  const Result<TradeUnit> unit = GetTradeUnit(k, ctx, trade);
  if (!unit.ok()) return Uint();
  const Result<TradeAccount> account = GetTradeAccount(k, ctx, owner, trade);
  if (!account.ok()) return Uint();
  return GetSafeShare(account->units, unit->units, unit->depth);
}

Result<Uint> DepositToTradeAccount(const Keeper& k, const Context& ctx, const Asset& asset,
                                   const Uint& amount, const AccAddress& owner,
                                   const Address& asset_address, const TxID& tx_id) {
  const Asset trade = asset.GetTradeAsset();
  KEEPER_ASSIGN_OR_RETURN(TradeUnit unit, GetTradeUnit(k, ctx, trade));
  KEEPER_ASSIGN_OR_RETURN(TradeAccount account, GetTradeAccount(k, ctx, owner, trade));
  account.last_add_height = ctx.height();
  const Uint units = CalcDepositUnits(unit.units, unit.depth, amount);
  unit.units += units;
  account.units += units;
  unit.depth += amount;
  SetTradeUnit(k, ctx, unit);
  SetTradeAccount(k, ctx, account);
  EmitEvent(k, ctx, "trade_account_deposit", amount, trade, owner, asset_address, tx_id);
  return amount;
}

Result<Uint> WithdrawFromTradeAccount(const Keeper& k, const Context& ctx, const Asset& asset,
                                      const Uint& amount, const AccAddress& owner,
                                      const Address& asset_address, const TxID& tx_id) {
  const Asset trade = asset.GetTradeAsset();
  KEEPER_ASSIGN_OR_RETURN(TradeUnit unit, GetTradeUnit(k, ctx, trade));
  KEEPER_ASSIGN_OR_RETURN(TradeAccount account, GetTradeAccount(k, ctx, owner, trade));
  account.last_withdraw_height = ctx.height();
  const Uint available = GetSafeShare(account.units, unit.units, unit.depth);
  // First the units, then what exactly they are worth: both round.
  const Uint units = GetSafeShare(amount, available, account.units);
  const Uint tokens = GetSafeShare(units, account.units, available);
  if (tokens.IsZero()) {
    return Error::New(sdk::StrCat("insufficient trade asset balance for ", trade.ToString(),
                                  ": requested ", amount.ToString(), ", available ",
                                  available.ToString()));
  }
  unit.units = SafeSub(unit.units, units);
  account.units = SafeSub(account.units, units);
  unit.depth = SafeSub(unit.depth, tokens);
  SetTradeUnit(k, ctx, unit);
  SetTradeAccount(k, ctx, account);
  EmitEvent(k, ctx, "trade_account_withdraw", tokens, trade, owner, asset_address, tx_id);
  return tokens;
}

}  // namespace blockreplay::keeper::thorchain
