#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "replay/import/base_state.h"
#include "replay/import/block_feed.h"
#include "replay/recording/manifest.h"
#include "storage/multistore/snapshot.h"

namespace blockreplay::replay {

// What the user says of a source; where it is not empty it goes before what the source says.
struct SourceNames {
  std::string chain_id;
  std::string application_name;
  std::string application_version;
  std::string build_tags;
  std::vector<std::string> stores;
};

struct CompletionOptions {
  // Folder of the recording; must not exist or be empty.
  std::string out;
  SourceNames names;
  // Replay each block from the base before the recording counts as complete.
  bool verify = true;
  // For the replay's database and trees together.
  int64_t cache_mb = 256;
  int threads = 0;  // 0: as many as this process may use
  // zstd, 1 to 19.
  int compression_level = 3;
  // As RecordingWriterOptions.
  int64_t blocks_per_part = 0;
};

// Told what is going on, by the thread that works.
class CompletionObserver {
 public:
  virtual ~CompletionObserver() = default;
  // The base is being written, or restored for the replay.
  virtual void OnBase(const char* doing, const storage::SnapshotProgress& progress) = 0;
  virtual void OnBlock(int64_t height) = 0;
  // Something may go wrong later on.
  virtual void OnWarning(const std::string& /*text*/) {}
};

enum class CompletionOutcome {
  kComplete,         // the manifest is written
  kAppHashMismatch,  // `mismatch` describes it; nothing is left of the recording
  kResultsMismatch,  // likewise
  kInterrupted,      // by `signal`; nothing is left
};

struct CompletionResult {
  CompletionOutcome outcome = CompletionOutcome::kComplete;
  std::string mismatch;  // several lines: height, hashes, stores, keys
  int signal = 0;
  Manifest manifest;
  // How many blocks passed each check.
  struct Checks {
    int64_t app_hashes = 0;         // our own against the source's
    int64_t header_app_hashes = 0;  // our own against the next block's header
    int64_t header_hashes = 0;      // of the block's header against the request's
    int64_t data_hashes = 0;        // of the transactions against the block's header
    int64_t results_hashes = 0;     // of the results against the next block's header
  };
  Checks checks;
};

// Writes a recording of what `feed` gives on `base` (null: genesis), replaying each block on trees
// of our own meanwhile: the app hash must be the one that the source, the response and, where it is
// known, the next block's header have, and the results' hash that of the next header. Commit infos
// and app hashes that the source lacks come from the replay or the next header. The manifest, with
// `origin`, is written when all of it was equal. Nothing is begun where the disks have not the
// least room that it takes. With `verify` off only what needs no state is checked. Stops at a
// signal (InterruptGuard). Memory stays near `cache_mb`, whatever the size.
//
// Errors: the feed's, the disk's; kInvalidArgument where feed and base do not fit together;
// kFailedPrecondition where the source does not tell an app hash that a recording needs.
absl::StatusOr<CompletionResult> CompleteRecording(BlockFeed* feed, const BaseState* base,
                                                   const CompletionOptions& options,
                                                   CompletionObserver* observer);

}  // namespace blockreplay::replay
