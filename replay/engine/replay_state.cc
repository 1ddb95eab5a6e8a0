#include "replay/engine/replay_state.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiling/labels.h"
#include "profiling/profiler.h"
#include "replay/recording/recording_reader.h"
#include "storage/multistore/partial_state.h"
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

storage::Hash BaseAppHash(const Manifest& manifest) {
  storage::Hash hash{};
  std::copy(manifest.base->app_hash.begin(), manifest.base->app_hash.end(), hash.begin());
  return hash;
}

absl::StatusOr<std::unique_ptr<storage::Multistore>> RestorePartialBase(const RunPlan& plan,
                                                                        storage::Engine* engine) {
  PartialBaseReader items(plan.options.recording);
  return storage::RestorePartialState(engine,
                                      {.multistore = plan.multistore,
                                       .version = plan.manifest.base->height,
                                       .expected_app_hash = BaseAppHash(plan.manifest)},
                                      [&] { return items.Next(); });
}

absl::StatusOr<std::unique_ptr<storage::Multistore>> RestoreBase(
    const RunPlan& plan, storage::Engine* engine,
    const storage::SnapshotProgressCallback& progress) {
  static const profiling::LabelId kRestore = profiling::InternLabel("restore");
  const profiling::ScopedLabel phase(profiling::LabelKey::kPhase, kRestore);
  if (plan.manifest.partial_base) return RestorePartialBase(plan, engine);
  absl::StatusOr<storage::snapshot::SnapshotDir> snapshot =
      storage::snapshot::SnapshotDir::Open(plan.options.recording + "/snapshot");
  if (!snapshot.ok()) return snapshot.status();
  storage::RestoreOptions options;
  options.multistore = plan.multistore;
  // Empty where it is not known yet.
  if (!plan.manifest.base->app_hash.empty()) options.expected_app_hash = BaseAppHash(plan.manifest);
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
