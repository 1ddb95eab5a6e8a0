#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "keeper/chain.h"

namespace blockreplay::keeper::thorchain {

// THORNode 3.17.0, the mainnet build or that of the regression suites.
absl::StatusOr<std::unique_ptr<keeper::Chain>> NewThorchain(const ChainSpec& spec);

}  // namespace blockreplay::keeper::thorchain
