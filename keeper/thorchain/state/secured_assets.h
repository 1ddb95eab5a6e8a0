#pragma once

// sa/: what the tokens of a secured asset are worth together.

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

// Without depth if there is none.
Result<SecuredAsset> GetSecuredAsset(const Keeper& k, const Context& ctx, const Asset& asset);
void SetSecuredAsset(const Keeper& k, const Context& ctx, const SecuredAsset& secured);

}  // namespace blockreplay::keeper::thorchain
