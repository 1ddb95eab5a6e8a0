#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "keeper/thorchain/common/network.h"
#include "keeper/thorchain/constants/constants.h"

namespace blockreplay::keeper::thorchain {

// A contract on an EVM chain that a swap may be handed on to.
struct DexAggregator {
  std::string_view chain;
  std::string_view address;
  uint64_t gas_units_limit;
};

// The contract that vaults of an EVM chain use, before and after the upgrade that mimir starts.
struct RouterUpgrade {
  std::string_view chain;
  std::string_view old_router;
  std::string_view new_router;
};

struct WasmPermission {
  std::string_view address;
  bool allowed;
};

// One build of THORNode 3.17.0: all that its tags and its pinned version change.
struct Build {
  const Network* network;
  ConstantSet constants;
  // constants.SWVersion.
  std::string software_version;
  // Begin and end block see the height in seconds as block time, and genesis keeps the first
  // validator only.
  bool regtest;
  // A due scheduled migration sets the mimir SCHEDULED-MIGRATION-MOCKNET to 123; mainnet's does
  // nothing.
  bool scheduled_migration_sets_mimir;
  std::span<const DexAggregator> dex_aggregators;
  std::span<const RouterUpgrade> router_upgrades;
  // Contracts that may stake TCY without owning any.
  std::span<const std::string_view> tcy_contracts;
  std::span<const WasmPermission> wasm_store;
  std::span<const WasmPermission> wasm_instantiate;
  // Token addresses of an EVM chain, which a memo may shorten to their ends; none for other chains.
  std::span<const std::string_view> (*token_addresses)(std::string_view chain);

  // The build that a manifest's `application` names: `build_tags` "mainnet" (or none) or
  // "regtest,mocknet" in any order; `constants_version` where it was pinned, else the version.
  // `environment` is that of the node's process; the mainnet build ignores it.
  static absl::StatusOr<Build> Make(std::string_view version, std::string_view build_tags,
                                    std::string_view constants_version,
                                    const Environment& environment);
};

// The environment that one of the node's own regression suites sets, by its path such as
// "swaps/streaming-swaps.yaml". Recordings name the suite, not its environment. Empty for most.
Environment RegressionSuiteEnvironment(std::string_view suite);

// The address of the first aggregator of the chain whose address ends so, exactly. The status
// message is the node's.
absl::StatusOr<DexAggregator> FindDexAggregator(const Build& build, std::string_view chain,
                                                std::string_view suffix);

}  // namespace blockreplay::keeper::thorchain
