#pragma once

// Deposits of external assets to trade accounts (TRADE+), and withdrawals from them (TRADE-).

#include "keeper/thorchain/managers.h"

namespace blockreplay::keeper::thorchain {

Error ValidateBasic(const Keeper& k, const MsgTradeAccountDeposit& message);
Error ValidateBasic(const Keeper& k, const MsgTradeAccountWithdrawal& message);
Error HandleInternal(Managers& mgr, const Context& ctx, const MsgTradeAccountDeposit& message);
Error HandleInternal(Managers& mgr, const Context& ctx, const MsgTradeAccountWithdrawal& message);

}  // namespace blockreplay::keeper::thorchain
