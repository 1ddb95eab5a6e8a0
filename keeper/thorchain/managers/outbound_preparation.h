#pragma once

// From what somebody is owed to items of single vaults, fees taken.

#include "keeper/thorchain/managers.h"
#include "keeper/thorchain/state/tx_outs.h"

namespace blockreplay::keeper::thorchain {

struct PreparedOutbounds {
  // Without items that nothing would be left of.
  TxOutItems items;
  // What the reserve got for them.
  Uint fee_rune;
};
// Fills in memo, vaults, gas and fees; changes pools, funds and the inbound's record accordingly.
Result<PreparedOutbounds> PrepareOutbounds(const Keeper& k, const Context& ctx, TxOutItem item);

// Vaults' observations name BCH recipients in the new form: gives the item's that form.
Error UseNewBchAddress(const Keeper& k, TxOutItem* item);

}  // namespace blockreplay::keeper::thorchain
