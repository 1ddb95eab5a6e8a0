#pragma once

// What THORChain keeps in memory beside its state, and what handlers share. Memory is not rolled
// back with a failed transaction; nothing in it outlives a block.

#include <utility>
#include <vector>

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

struct Managers {
  const Keeper* keeper;

  // Observer manager: who observed something of which chain in this block, for the end block.
  struct ChainObservers {
    Chain chain;
    std::vector<AccAddress> addresses;
  };
  std::vector<ChainObservers> observers;

  // Gas manager: gas that outbound transactions of this block took, by the asset they carried, and
  // how many they were, by the asset of their gas. For the end block.
  struct OutAssetGas {
    Asset asset;
    Gas gas;
  };
  std::vector<OutAssetGas> out_asset_gas;
  std::vector<std::pair<Asset, int64_t>> gas_counts;
};

}  // namespace blockreplay::keeper::thorchain
