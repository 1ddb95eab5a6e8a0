#pragma once

// Verification of native execution over a plain in-memory state: no trees, no hashes. For people
// who write keepers, and for tests; a replay that proves app hashes is `blockreplay run --exec
// verify`.

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "blockreplay/v1/recording.pb.h"
#include "keeper/thorchain/codec_table.h"
#include "keeper/verify/phase_verifier.h"

namespace blockreplay::replay {

struct MemoryVerifyOptions {
  // Heights whose phases are executed; blocks before only leave their writes.
  int64_t from = 0;
  int64_t to = INT64_MAX;
  keeper::PhaseVerifier::Options verifier;
  // Called with each block (and its phases, null if it has none) before it is verified. What it
  // changes is what the native results are compared with; the state goes on with the recorded
  // change sets.
  std::function<void(v1::Block*, v1::BlockPhases*)> falsify;
};

// Runs all phases that have native code, each on the true state, and compares.
absl::StatusOr<keeper::Coverage> MemoryVerify(const std::string& recording_dir,
                                              const MemoryVerifyOptions& options);

// Decodes and encodes every value of the base snapshot and of all change sets.
absl::Status AddRecordingTo(const std::string& recording_dir, keeper::thorchain::CodecTable* table);

}  // namespace blockreplay::replay
