#pragma once

// pol/: how much RUNE the protocol itself has put into pools and taken out.

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

Result<ProtocolOwnedLiquidity> GetPol(const Keeper& k, const Context& ctx);
void SetPol(const Keeper& k, const Context& ctx, const ProtocolOwnedLiquidity& pol);

}  // namespace blockreplay::keeper::thorchain
