#pragma once

// ban/ and tssKeysignFailure/: votes of nodes on other nodes.

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

// With the node only if there is none.
Result<BanVoter> GetBanVoter(const Keeper& k, const Context& ctx, const AccAddress& node);
void SetBanVoter(const Keeper& k, const Context& ctx, const BanVoter& voter);

// With the identifier only if there is none.
Result<TssKeysignFailVoter> GetKeysignFailVoter(const Keeper& k, const Context& ctx,
                                                const std::string& id);
void SetKeysignFailVoter(const Keeper& k, const Context& ctx, const TssKeysignFailVoter& voter);

}  // namespace blockreplay::keeper::thorchain
