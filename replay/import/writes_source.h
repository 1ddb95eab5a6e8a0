#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "replay/import/block_feed.h"

namespace blockreplay::replay {

// What tells the net writes of blocks, and nothing else or more. Not thread-safe.
class WritesSource {
 public:
  virtual ~WritesSource() = default;

  // As in FeedSource: kind, chain id, stores and ranges where they are known.
  virtual FeedSource source() const = 0;
  // The first height, and the last: 0 where only the end will tell.
  virtual HeightRange range() const = 0;
  // Sets the change set of block `height`, whose height is set, and whatever else is known of it.
  // Heights ascend without gap. kOutOfRange: the source has ended before.
  virtual absl::Status Read(int64_t height, FedBlock* fed) = 0;
};

// A folder of the SDK 0.46/0.47 file streaming service (stream_files.h). What its meta files tell
// makes a whole block.
absl::StatusOr<std::unique_ptr<WritesSource>> OpenStreamWrites(const std::string& dir);
// A folder of cronos' change sets (change_set_files.h).
absl::StatusOr<std::unique_ptr<WritesSource>> OpenChangeSetWrites(const std::string& dir);
// A file of `--trace-store` (store_trace.h), `.zst` and `.gz` included.
absl::StatusOr<std::unique_ptr<WritesSource>> OpenTraceWrites(const std::string& path);

// A recording: all of it, to be completed by what another source tells.
absl::StatusOr<std::unique_ptr<WritesSource>> OpenRecordingWrites(const std::string& dir);

}  // namespace blockreplay::replay
