#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "blockreplay/v1/partial_state.pb.h"
#include "blockreplay/v1/recording.pb.h"
#include "replay/recording/manifest.h"

namespace blockreplay::replay {

struct RecordingWriterOptions {
  // zstd level, 1 to 19.
  int compression_level = 9;
  // A new part (blocks-<first height>.zst) every so many blocks; 0: one blocks.zst.
  int64_t blocks_per_part = 0;
};

// Writes a complete recording into a folder. The manifest comes last: a folder without one is not a
// recording yet. Not thread-safe.
class RecordingWriter {
 public:
  // Creates `dir`, which must not exist or be empty.
  static absl::StatusOr<std::unique_ptr<RecordingWriter>> Create(
      const std::string& dir, const RecordingWriterOptions& options);
  virtual ~RecordingWriter() = default;

  // Blocks in height order, without gaps.
  virtual absl::Status AppendBlock(const v1::Block& block) = 0;
  virtual absl::Status AppendPhases(const v1::BlockPhases& phases) = 0;
  // The items of a partial base, in their order.
  virtual absl::Status AppendBaseItem(const v1::PartialStateItem& item) = 0;
  // No more of them come: the file is whole and can be read. Finish does this, too.
  virtual absl::Status CloseBase() = 0;
  // Copies a file into the recording under `name`, for instance the files of a snapshot.
  virtual absl::Status AddFile(const std::string& name, const std::string& source_path) = 0;
  // Lists a file that was written into the folder already.
  virtual absl::Status AddExistingFile(const std::string& name) = 0;
  // Closes everything and writes manifest.json. Heights, the final app hash and the files come from
  // what was written; of `manifest` are used: chain id, application, stores, base, partial base,
  // and `document` for information.
  virtual absl::StatusOr<Manifest> Finish(Manifest manifest) = 0;
};

}  // namespace blockreplay::replay
