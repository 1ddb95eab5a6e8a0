#pragma once

// Base of tests of state access and handlers: THORChain's test build on an empty state.

#include <vector>

#include "keeper/thorchain/bech32_addresses.h"
#include "keeper/thorchain/constants/build.h"
#include "keeper/thorchain/keeper.h"
#include "keeper/thorchain/stores.h"
#include "storage/kv/memory_engine.h"

namespace blockreplay::keeper::thorchain {

class EmptyStateTestBase {
 protected:
  Build build_ = *Build::Make("3.17.0", "regtest,mocknet", "9.999.0", {});
  Bech32Addresses addresses_{build_.network};
  // Without the keepers of accounts and balances.
  Keeper keeper_{&build_, &addresses_, nullptr, nullptr};
  storage::MemoryEngine engine_;
  sdk::ReaderStore base_{&engine_};
  sdk::MultiStore stores_{std::vector<sdk::BaseStore*>(StoreNames().size(), &base_)};
  sdk::BlockInfo block_;
  sdk::GasMeter gas_ = sdk::GasMeter::Infinite();
  sdk::EventManager events_;
  Context context_{&block_, &stores_, &gas_, &events_};
};

}  // namespace blockreplay::keeper::thorchain
