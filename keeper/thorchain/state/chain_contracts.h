#pragma once

// chain_contract/: the contracts that new vaults use on EVM chains.

#include <vector>

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

// Empty if there is none.
Result<ChainContract> GetChainContract(const Keeper& k, const Context& ctx, const Chain& chain);
void SetChainContract(const Keeper& k, const Context& ctx, const ChainContract& contract);
// Those of the chains that have one.
std::vector<ChainContract> GetChainContracts(const Keeper& k, const Context& ctx,
                                             const std::vector<Chain>& chains);

}  // namespace blockreplay::keeper::thorchain
