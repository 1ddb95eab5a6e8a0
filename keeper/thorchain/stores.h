#pragma once

#include <string>
#include <vector>

#include "keeper/sdk/store.h"

namespace blockreplay::keeper::thorchain {

// THORChain's stores, ascending by name.
enum Stores : sdk::StoreId {
  kAccStore,
  kAuthzStore,
  kBankStore,
  kConsensusStore,
  kDenomStore,
  kMintStore,
  kParamsStore,
  kSchedulerStore,
  kStakingStore,
  kThorchainStore,
  kUpgradeStore,
  kWasmStore,
};

const std::vector<std::string>& StoreNames();

}  // namespace blockreplay::keeper::thorchain
