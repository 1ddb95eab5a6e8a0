#include "keeper/thorchain/managers/trade_accounts.h"

namespace blockreplay::keeper::thorchain {

Result<Uint> TradeAccountBalance(const Keeper&, const Context&, const Asset&, const AccAddress&) {
  throw sdk::NotNative("trade_accounts");
}
Result<Uint> DepositToTradeAccount(Managers&, const Context&, const Asset&, const Uint&,
                                   const AccAddress&, const Address&, const TxID&) {
  throw sdk::NotNative("trade_accounts");
}
Result<Uint> WithdrawFromTradeAccount(Managers&, const Context&, const Asset&, const Uint&,
                                      const AccAddress&, const Address&, const TxID&) {
  throw sdk::NotNative("trade_accounts");
}

}  // namespace blockreplay::keeper::thorchain
