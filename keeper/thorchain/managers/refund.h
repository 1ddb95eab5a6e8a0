#pragma once

// What happens to coins of a transaction that failed.

#include <string>
#include <string_view>

#include "keeper/thorchain/managers.h"

namespace blockreplay::keeper::thorchain {

// Sends all coins back that have a pool, less the fee, and emits the refund event. An empty module
// is Asgard.
Error RefundTx(Managers& mgr, const Context& ctx, const ObservedTx& tx, uint32_t code,
               std::string reason, std::string_view source_module);

// Keeps the books right for an outbound that failed for good: RUNE and other native assets go to
// the reserve, others stay in the vault.
void CleanUpUnrefundableCoin(Managers& mgr, const Context& ctx, const TxOutItem& item);

}  // namespace blockreplay::keeper::thorchain
