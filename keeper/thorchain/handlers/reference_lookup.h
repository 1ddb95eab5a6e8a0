#pragma once

// Transfers without a memo: the amount's last digits name a registered memo.

#include <string>

#include "keeper/thorchain/handlers/handler.h"

namespace blockreplay::keeper::thorchain {

// The reference in an amount that came by a deposit, whose coins all have eight decimals.
Result<std::string> ReferenceFromNativeAmount(const Keeper& k, const Context& ctx, uint64_t amount);
// The reference in an amount of the asset that was observed on its chain.
Result<std::string> ReferenceFromAmount(const Keeper& k, const Context& ctx, const Asset& asset,
                                        uint64_t amount);
// The memo that the transaction means: its own, or if that is a reference the registered one, empty
// if it can't be used. Writes down who used it.
std::string ResolveReference(const Keeper& k, const Context& ctx, const Asset& asset, const Tx& tx,
                             int64_t observed_height);

}  // namespace blockreplay::keeper::thorchain
