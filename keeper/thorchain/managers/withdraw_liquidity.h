#pragma once

// Taking a position out of a pool.

#include "keeper/thorchain/managers.h"

namespace blockreplay::keeper::thorchain {

struct Withdrawal {
  Uint rune;
  Uint asset;
  // Zero if only what was waiting for its other side is taken back.
  Uint units;
  // Gas that was kept for the last one to leave the pool; part of what is sent.
  Uint gas_asset;
};
// Reduces position and pool; the coins are the caller's to send.
Result<Withdrawal> Withdraw(Managers& mgr, const Context& ctx, const MsgWithdrawLiquidity& message);

}  // namespace blockreplay::keeper::thorchain
