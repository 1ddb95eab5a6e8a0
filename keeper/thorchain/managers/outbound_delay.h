#pragma once

// When an outbound may leave: the more it and all others are worth, the later, so that there is
// time to react to an attack. Clout, which swappers earn by fees, makes up for value.

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

struct OutboundDelay {
  int64_t height = 0;
  // Clout that was spent on it.
  Uint clout;
};
OutboundDelay CalcTxOutHeight(const Keeper& k, const Context& ctx, const TxOutItem& item);

}  // namespace blockreplay::keeper::thorchain
