#pragma once

// State-sync snapshots of a multistore: its beginning from one, and the making of one.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/multistore/multistore.h"
#include "storage/multistore/view.h"
#include "storage/snapshot/item_writer.h"
#include "storage/snapshot/snapshot_dir.h"

namespace blockreplay::storage {

struct SnapshotProgress {
  uint64_t bytes = 0;        // compressed bytes read
  uint64_t total_bytes = 0;  // 0 where it is not known (making one)
  uint64_t items = 0;
};
// Called every now and then, and at the end; an error it returns stops the work and is handed back.
using SnapshotProgressCallback = std::function<absl::Status(const SnapshotProgress&)>;

struct RestoreOptions {
  // Persistence and so on of the multistore that the restore opens. With `stores` the snapshot must
  // have exactly these, without it decides. `upgrades` and `initial_version` have no meaning here.
  MultistoreOptions multistore;
  // The app hash that the stores must have; without it any is accepted.
  std::optional<Hash> expected_app_hash;
  SnapshotProgressCallback progress;
  // Receives the extensions' items (wasm code, say), which come behind the stores. Without it they
  // are read past.
  std::function<absl::Status(const snapshot::SnapshotItem&)> extension;
};

// Restores `dir` into `engine`, which must have no committed version, and opens the multistore at
// the snapshot's height. Leftovers of a restore that was interrupted are removed first. Memory
// stays near `cache_bytes`, whatever the snapshot's size. The version becomes visible (`s/latest`)
// in the last write, after the app hash was checked. As the Go node's, the commit info has the zero
// time.
absl::StatusOr<std::unique_ptr<Multistore>> RestoreSnapshot(Engine* engine,
                                                            const snapshot::SnapshotDir& dir,
                                                            const RestoreOptions& options);

// Writes a snapshot of `view` as the folder `path` (layout "archive" of SnapshotDir), which must
// not exist. The items are those that a Go node writes for the version.
absl::StatusOr<snapshot::Snapshot> CreateSnapshot(
    MultistoreView* view, const std::string& path, const SnapshotProgressCallback& progress,
    int compression_level = snapshot::kNodeCompressionLevel);

}  // namespace blockreplay::storage
