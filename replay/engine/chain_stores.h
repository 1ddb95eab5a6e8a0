#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "replay/recording/manifest.h"
#include "storage/multistore/multistore.h"

namespace blockreplay::replay {

// What the recording's chain keeps its state in.
struct ChainStores {
  std::vector<storage::StoreSpec> stores;  // with the tree that each has
  storage::CommitFormat format = storage::CommitFormat::kSdk;
};

// kUnimplemented names the store whose kind we don't have.
absl::StatusOr<ChainStores> StoresOf(const Manifest& manifest);

}  // namespace blockreplay::replay
