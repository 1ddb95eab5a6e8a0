#pragma once

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "replay/engine/database_dir.h"
#include "replay/engine/run_plan.h"
#include "storage/kv/rocksdb_engine.h"
#include "storage/multistore/multistore.h"
#include "storage/multistore/snapshot.h"

namespace blockreplay::replay {

// The state that a run works on: the database in a folder, with the multistore on it.
class ReplayState {
 public:
  // Opens what is in `dir`; makes the base first where that is not there, or not complete: restores
  // the recording's snapshot or partial base, or begins with nothing at genesis. `progress` may
  // stop the restore with an error, which is handed back.
  static absl::StatusOr<std::unique_ptr<ReplayState>> Open(
      const RunPlan& plan, DatabaseDir* dir, const storage::SnapshotProgressCallback& progress);

  storage::Multistore* multistore() { return multistore_.get(); }
  storage::RocksDbEngine* engine() { return engine_.get(); }

  // Writes everything that a later run, or a Go node, needs to open the last version.
  absl::Status Close();

 private:
  ReplayState() = default;

  // In this order: the multistore uses the engine.
  std::unique_ptr<storage::RocksDbEngine> engine_;
  std::unique_ptr<storage::Multistore> multistore_;
};

}  // namespace blockreplay::replay
