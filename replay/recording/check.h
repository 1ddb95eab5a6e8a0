#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "replay/recording/manifest.h"

namespace blockreplay::replay {

// What a pass over all of a recording found in it.
struct RecordingContents {
  struct StoreWrites {
    int64_t sets = 0;
    int64_t deletes = 0;
  };

  int64_t blocks = 0;
  int64_t transactions = 0;
  int64_t failed_transactions = 0;
  int64_t blocks_with_commit_info = 0;
  int64_t blocks_with_header = 0;
  int64_t phases = 0;  // recorded ones
  int64_t phase_writes = 0;
  uint64_t block_bytes = 0;       // uncompressed
  uint64_t change_set_bytes = 0;  // keys and values
  std::map<std::string, StoreWrites> writes_by_store;
  bool has_init_chain = false;
  bool has_phases = false;
};

// Compares everything in a recording with its manifest without executing anything: sizes and
// SHA-256 of all files, the snapshot's height, format and chunk hashes, every message decodable,
// heights without gap or repetition, stores of the writes and of the commit infos known, the app
// hash of block, response and (at the end) manifest equal, init_chain present exactly where the
// recording starts at genesis, chain ids equal.
//
// `progress` is called now and then with the number of blocks read.
absl::StatusOr<RecordingContents> CheckRecording(
    const std::string& recording_dir, const Manifest& manifest,
    const std::function<void(int64_t blocks)>& progress);

// The part of it that is cheap and must hold before a replay: files, and the snapshot's metadata.
absl::Status CheckFilesAndSnapshot(const std::string& recording_dir, const Manifest& manifest);

}  // namespace blockreplay::replay
