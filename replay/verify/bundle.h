#pragma once

#include <string>

#include "absl/status/status.h"
#include "blockreplay/v1/recording.pb.h"
#include "replay/recording/manifest.h"
#include "replay/verify/block_verifier.h"
#include "storage/multistore/commit_info.h"
#include "storage/multistore/multistore.h"

namespace blockreplay::replay {

// Writes the evidence for a mismatch into the folder `dir`: the block, the recorded and the
// computed commit info, the keys that the block wrote with their values before and after, and a
// README.txt that explains it. `before` is at the last good block, without writes since; `actual`
// is what was computed for the block.
absl::Status WriteBundle(const std::string& dir, const Manifest& manifest,
                         const std::string& recording_dir, const AppHashMismatch& mismatch,
                         const v1::Block& block, const storage::CommitInfo& actual,
                         storage::Multistore* before);

}  // namespace blockreplay::replay
