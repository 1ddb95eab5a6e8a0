#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "replay/engine/options.h"
#include "replay/recording/manifest.h"

namespace blockreplay::replay {

struct MinimizeOptions {
  std::string recording;
  std::string output;  // folder; must not exist, or be empty
  int64_t from = 0;
  int64_t to = 0;
  // What `run --exec` of the result needs: with kApply what the range's writes touch, else also
  // what native execution reads.
  ExecutionMode exec = ExecutionMode::kApply;
};

struct MinimizeResult {
  Manifest manifest;
  // Of the base; all 0 where the range starts at genesis.
  int64_t nodes = 0;
  int64_t keys = 0;              // leaves among the nodes
  int64_t omitted_subtrees = 0;  // with the keys that they stand for:
  int64_t omitted_keys = 0;
  // Of all files.
  uint64_t bytes = 0;
  uint64_t source_bytes = 0;
  std::vector<std::string> left_out_files;  // that are neither blocks nor phases nor the base
  // Set if a block of the range has another app hash here than recorded. It is then the last block.
  std::string mismatch;
};

// Makes a recording of a range of another one: its blocks and phases, and as its base the part of
// the state before `from` that replaying them needs. Replays the recording up to `to` in a
// temporary database; `progress` is called after each block and may stop it with an error. What
// such a base has suffices for every --persist, --cache-mb and --threads, because the nodes are
// noted while none is in memory at the beginning of a block. kUnimplemented for a range of a chain
// with other trees than IAVL that does not start at genesis. After an error there is nothing at
// `output`.
absl::StatusOr<MinimizeResult> Minimize(
    const MinimizeOptions& options, const std::function<absl::Status(int64_t height)>& progress);

// Proves that a partial base is whole and has the manifest's app hash. Nothing to do for other
// bases.
absl::Status CheckPartialBase(const std::string& recording_dir, const Manifest& manifest);

}  // namespace blockreplay::replay
