#include "replay/import/state_replay.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/engine/chain_stores.h"

namespace blockreplay::replay {

absl::StatusOr<std::unique_ptr<StateReplay>> StateReplay::Start(
    const std::string& recording_dir, const Manifest& manifest, const Options& options,
    const storage::SnapshotProgressCallback& progress) {
  absl::StatusOr<ChainStores> chain = StoresOf(manifest);
  if (!chain.ok()) return chain.status();
  RunPlan plan;
  plan.options.recording = recording_dir;
  plan.manifest = manifest;
  plan.threads = options.threads;
  plan.multistore.stores = std::move(chain->stores);
  plan.multistore.format = chain->format;
  if (!manifest.base) plan.multistore.initial_version = manifest.first_height;
  plan.multistore.threads = options.threads;
  ShareCache(options.cache_mb, &plan);

  std::unique_ptr<StateReplay> replay(new StateReplay(std::move(plan)));
  absl::StatusOr<DatabaseDir> dir = DatabaseDir::CreateTemporary(
      {/*recording_digest=*/"", manifest.chain_id, /*persist=*/"deferred"});
  if (!dir.ok()) return dir.status();
  replay->dir_ = std::make_unique<DatabaseDir>(*std::move(dir));
  absl::StatusOr<std::unique_ptr<ReplayState>> state =
      ReplayState::Open(replay->plan_, replay->dir_.get(), progress);
  if (!state.ok()) return state.status();
  replay->state_ = *std::move(state);
  replay->replayer_ = std::make_unique<BlockReplayer>(
      replay->state_->multistore(), /*repeat=*/1, &replay->clock_,
      /*genesis_in_recorded_order=*/chain->format == storage::CommitFormat::kTm2,
      /*verifier=*/nullptr);
  return replay;
}

std::string StateReplay::app_hash() {
  if (state_->multistore()->version() == 0) return "";
  return storage::ToRaw(state_->multistore()->app_hash());
}

}  // namespace blockreplay::replay
