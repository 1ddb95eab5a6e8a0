#pragma once

// Deposits of external assets for secured assets (SECURE+), and withdrawals of them (SECURE-).

#include "keeper/thorchain/managers.h"

namespace blockreplay::keeper::thorchain {

Error ValidateBasic(const Keeper& k, const MsgSecuredAssetDeposit& message);
Error ValidateBasic(const Keeper& k, const MsgSecuredAssetWithdraw& message);
Error HandleInternal(Managers& mgr, const Context& ctx, const MsgSecuredAssetDeposit& message);
Error HandleInternal(Managers& mgr, const Context& ctx, const MsgSecuredAssetWithdraw& message);

}  // namespace blockreplay::keeper::thorchain
