#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "replay/recording/manifest.h"
#include "storage/multistore/multistore.h"

namespace blockreplay::replay {

// The stores of the recording's chain with the tree that each has. kUnimplemented names the
// application if its stores are not all of a kind that we have.
absl::StatusOr<std::vector<storage::StoreSpec>> StoresOf(const Manifest& manifest);

}  // namespace blockreplay::replay
