#pragma once

// The state of a recording in ordered maps: for verification, tests and benchmarks of keepers that
// need no trees and hashes.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "blockreplay/v1/recording.pb.h"
#include "keeper/sdk/store.h"
#include "replay/recording/manifest.h"

namespace blockreplay::replay {

class MemoryState {
 public:
  // The recording's base, or empty. kInvalidArgument: it has other stores than these.
  static absl::StatusOr<std::unique_ptr<MemoryState>> Load(
      const std::string& recording_dir, const Manifest& manifest,
      const std::vector<std::string>& store_names);
  ~MemoryState();

  // In the order of the names. Their views stay valid until Apply.
  const std::vector<keeper::sdk::BaseStore*>& stores() const { return bases_; }

  // Keys of each store.
  std::vector<int64_t> KeyCounts() const;

  // Applies the block's change set.
  absl::Status Apply(const v1::Block& block);

 private:
  class Store;
  explicit MemoryState(const std::vector<std::string>& store_names);
  absl::StatusOr<Store*> Find(const std::string& name);

  const std::vector<std::string> names_;
  std::vector<std::unique_ptr<Store>> stores_;
  std::vector<keeper::sdk::BaseStore*> bases_;
};

// `visit(store, key, value)` for each leaf of the snapshot that a recording starts from, if it
// does, until it fails. kUnimplemented for a partial base.
absl::Status ForEachLeaf(
    const std::string& recording_dir, const Manifest& manifest,
    const std::function<absl::Status(const std::string& store, const std::string& key,
                                     const std::string& value)>& visit);

}  // namespace blockreplay::replay
