#include "keeper/thorchain/state/chain_contracts.h"

#include <string>
#include <utility>

namespace blockreplay::keeper::thorchain {
namespace {

std::string Key(const Chain& chain) { return StoreKey("chain_contract/", chain.ToString()); }

}  // namespace

Result<ChainContract> GetChainContract(const Keeper& k, const Context& ctx, const Chain& chain) {
  ChainContract contract;
  const Result<bool> found = GetRecord(k, ctx, Key(chain), &contract);
  if (!found.ok()) return found.error();
  return contract;
}

void SetChainContract(const Keeper& k, const Context& ctx, const ChainContract& contract) {
  SetRecord(k, ctx, Key(contract.chain), contract);
}

std::vector<ChainContract> GetChainContracts(const Keeper& k, const Context& ctx,
                                             const std::vector<Chain>& chains) {
  std::vector<ChainContract> contracts;
  for (const Chain& chain : chains) {
    Result<ChainContract> contract = GetChainContract(k, ctx, chain);
    if (!contract.ok() || contract->chain.IsEmpty() || contract->router.IsEmpty()) continue;
    contracts.push_back(*std::move(contract));
  }
  return contracts;
}

}  // namespace blockreplay::keeper::thorchain
