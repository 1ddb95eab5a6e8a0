#pragma once

// Fees of affiliates, named in a memo.

#include <string_view>

#include "keeper/thorchain/managers.h"

namespace blockreplay::keeper::thorchain {

// Pays each affiliate of the memo its share of the coin; returns what all of them took.
Result<Uint> SkimAffiliateFees(Managers& mgr, const Context& ctx, const Tx& tx,
                               const AccAddress& signer, const Coin& coin, std::string_view memo);

}  // namespace blockreplay::keeper::thorchain
