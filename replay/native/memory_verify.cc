#include "replay/native/memory_verify.h"

#include <memory>
#include <utility>

#include "keeper/chain.h"
#include "keeper/sdk/store.h"
#include "replay/native/chain_spec.h"
#include "replay/native/memory_state.h"
#include "replay/recording/manifest.h"
#include "replay/recording/recording_reader.h"

namespace blockreplay::replay {

absl::StatusOr<keeper::Coverage> MemoryVerify(const std::string& recording_dir,
                                              const MemoryVerifyOptions& options) {
  absl::StatusOr<Manifest> manifest = LoadManifest(recording_dir);
  if (!manifest.ok()) return manifest.status();
  absl::StatusOr<std::unique_ptr<keeper::Chain>> chain = keeper::NewChain(ChainSpecOf(*manifest));
  if (!chain.ok()) return chain.status();
  absl::StatusOr<std::unique_ptr<MemoryState>> committed =
      MemoryState::Load(recording_dir, *manifest, (*chain)->store_names());
  if (!committed.ok()) return committed.status();

  keeper::PhaseVerifier verifier(chain->get(), options.verifier);
  BlockReader blocks(recording_dir, *manifest);
  PhasesReader phase_reader(recording_dir, *manifest);
  v1::Block block;
  v1::BlockPhases phases;
  absl::StatusOr<bool> has_phases = phase_reader.Next(&phases);
  std::string app_hash = manifest->base ? manifest->base->app_hash : std::string();
  while (true) {
    if (!has_phases.ok()) return has_phases.status();
    absl::StatusOr<bool> more = blocks.Next(&block);
    if (!more.ok()) return more.status();
    if (!*more || block.height() > options.to) return verifier.coverage();
    const bool mine = *has_phases && phases.height() == block.height();
    if (block.height() >= options.from) {
      v1::BlockPhases* const of_block = mine ? &phases : nullptr;
      v1::Block compared = block;
      if (options.falsify) options.falsify(&compared, of_block);
      keeper::sdk::MultiStore state((*committed)->stores());
      (*chain)->SetCommitted({.app_hash = app_hash, .keys = (*committed)->KeyCounts()});
      if (absl::Status status = verifier.VerifyBlock(compared, of_block, &state); !status.ok()) {
        return status;
      }
    }
    if (absl::Status status = (*committed)->Apply(block); !status.ok()) return status;
    app_hash = block.app_hash();
    if (mine) has_phases = phase_reader.Next(&phases);
  }
}

absl::Status AddRecordingTo(const std::string& recording_dir,
                            keeper::thorchain::CodecTable* table) {
  absl::StatusOr<Manifest> manifest = LoadManifest(recording_dir);
  if (!manifest.ok()) return manifest.status();
  absl::Status status =
      ForEachLeaf(recording_dir, *manifest,
                  [&](const std::string& store, const std::string& key, const std::string& value) {
                    table->Add(store, key, value);
                    return absl::OkStatus();
                  });
  if (!status.ok()) return status;
  BlockReader blocks(recording_dir, *manifest);
  v1::Block block;
  while (true) {
    absl::StatusOr<bool> more = blocks.Next(&block);
    if (!more.ok()) return more.status();
    if (!*more) return absl::OkStatus();
    for (const auto& pair : block.change_set()) {
      if (!pair.delete_()) table->Add(pair.store_key(), pair.key(), pair.value());
    }
  }
}

}  // namespace blockreplay::replay
