#include "replay/engine/replay_state.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiling/labels.h"
#include "profiling/profiler.h"
#include "storage/snapshot/snapshot_dir.h"

namespace blockreplay::replay {
namespace {

storage::RocksDbOptions DatabaseOptions(const RunPlan& plan) {
  storage::RocksDbOptions options;
  options.memory_budget_bytes = plan.database_memory_bytes;
  options.seek_compaction = plan.options.seek_compaction;
  // RocksDB's threads may start with their first job; a profiler should not miss its beginning.
  options.background_job_listeners.push_back(
      [](const storage::BackgroundJob&) { profiling::RefreshProfiledThreads(); });
  return options;
}

absl::StatusOr<std::unique_ptr<storage::Multistore>> RestoreBase(
    const RunPlan& plan, storage::Engine* engine,
    const storage::SnapshotProgressCallback& progress) {
  static const profiling::LabelId kRestore = profiling::InternLabel("restore");
  const profiling::ScopedLabel phase(profiling::LabelKey::kPhase, kRestore);
  absl::StatusOr<storage::snapshot::SnapshotDir> snapshot =
      storage::snapshot::SnapshotDir::Open(plan.options.recording + "/snapshot");
  if (!snapshot.ok()) return snapshot.status();
  storage::RestoreOptions options;
  options.multistore = plan.multistore;
  // Empty where it is not known yet.
  if (const std::string& expected = plan.manifest.base->app_hash; !expected.empty()) {
    options.expected_app_hash.emplace();
    std::copy(expected.begin(), expected.end(), options.expected_app_hash->begin());
  }
  options.progress = progress;
  return storage::RestoreSnapshot(engine, *snapshot, options);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ReplayState>> ReplayState::Open(
    const RunPlan& plan, DatabaseDir* dir, const storage::SnapshotProgressCallback& progress) {
  if (!dir->has_base()) {
    if (absl::Status status = dir->Clear(); !status.ok()) return status;
  }
  std::unique_ptr<ReplayState> state(new ReplayState);
  absl::StatusOr<std::unique_ptr<storage::RocksDbEngine>> engine =
      storage::RocksDbEngine::Open(dir->database_path(), DatabaseOptions(plan));
  if (!engine.ok()) return engine.status();
  state->engine_ = *std::move(engine);

  const bool restore = !dir->has_base() && plan.manifest.base.has_value();
  absl::StatusOr<std::unique_ptr<storage::Multistore>> multistore =
      restore ? RestoreBase(plan, state->engine_.get(), progress)
              : storage::Multistore::Open(state->engine_.get(), plan.multistore);
  if (!multistore.ok()) return multistore.status();
  state->multistore_ = *std::move(multistore);
  if (!dir->has_base()) {
    if (absl::Status status = dir->MarkBaseComplete(); !status.ok()) return status;
  }
  return state;
}

absl::Status ReplayState::Close() { return multistore_->Close(); }

}  // namespace blockreplay::replay
