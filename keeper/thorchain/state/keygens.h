#pragma once

// keygen/: which vaults are to be made, by the height at which that was decided.

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

// Without keygens if there is none.
Result<KeygenBlock> GetKeygenBlock(const Keeper& k, const Context& ctx, int64_t height);
void SetKeygenBlock(const Keeper& k, const Context& ctx, const KeygenBlock& block);

// ---- Without the store ----

// Sorts the members; the identifier follows from all of it.
Keygen MakeKeygen(int64_t height, std::vector<std::string> members, KeygenType type);
bool Contains(const KeygenBlock& block, const Keygen& keygen);

}  // namespace blockreplay::keeper::thorchain
