#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "blockreplay/v1/recording.pb.h"
#include "replay/record/part_file.h"
#include "replay/record/stream_index.h"

namespace blockreplay::replay {

struct BlockLogOptions {
  StreamNames names;
  int64_t blocks_per_part = 2000;
  int compression_level = 3;  // zstd, 1 to 19
  // Blocks between two syncs to the device; 0: only when a part is full. Whatever it is, an
  // appended block survives the end of the process.
  int64_t sync_every = 1;
};

// The folder that a node's blocks are recorded into: parts `blocks-<first>.zst` and
// manifest.draft.json. Blocks may come in any order of heights; those that follow each other are in
// one part up to its full size, a gap begins another part. Nothing that was recorded is ever
// removed: what is superseded goes into `set-aside/<n>/`, as parts as well. One process has it open
// at a time. Not thread-safe.
class BlockLog {
 public:
  // Tells what was repaired and what was noticed, in a sentence.
  using Notice = std::function<void(const std::string&)>;

  // Creates or opens `dir`, and repairs what the end of a writer left. kUnavailable: another
  // process has it, still after `patience`. kFailedPrecondition: it belongs to another chain, holds
  // a complete recording, or has parts that exclude each other.
  static absl::StatusOr<std::unique_ptr<BlockLog>> Open(const std::string& dir,
                                                        const BlockLogOptions& options,
                                                        absl::Duration patience,
                                                        const Notice& notice);
  // As Close, errors lost.
  ~BlockLog();
  BlockLog(const BlockLog&) = delete;
  BlockLog& operator=(const BlockLog&) = delete;

  const StreamParts& parts() const { return index_.parts; }

  // The block recorded at a height, if there is one. Asking for heights in ascending order reads
  // each part once.
  absl::StatusOr<std::optional<v1::Block>> Find(int64_t height);

  // Adds a block at a height that is not there. After an error the log is as before, and the call
  // may be repeated.
  absl::Status Append(const v1::Block& block);

  // Takes the blocks from `height` on, all that there are, out of the log. Returns the folder they
  // went to.
  absl::StatusOr<std::string> SetAside(int64_t height);

  // Brings the draft manifest and the device up to date. No block is lost without.
  absl::Status Close();

 private:
  BlockLog(std::string dir, BlockLogOptions options, int lock_fd);

  std::string PathOf(const StreamPart& part) const;
  absl::Status Repair(const StreamContents& contents, const Notice& notice);
  // Opens the part that `height` goes into, a new one where none ends before it or that is full.
  absl::Status OpenWriterFor(int64_t height);
  // Syncs and hashes the part being written and notes it in the draft manifest.
  absl::Status SealWriter();
  absl::Status WriteIndex();
  absl::StatusOr<std::string> NewSetAsideDir();
  absl::Status SyncDir();

  const std::string dir_;
  const BlockLogOptions options_;
  const int lock_fd_;  // of the folder; holding its lock
  StreamIndex index_;
  // The part being written, if any: `writer_part_` is its first height.
  std::unique_ptr<PartWriter> writer_;
  int64_t writer_part_ = 0;
  int64_t unsynced_ = 0;  // blocks
  // The part being read by Find, and the next height it gives.
  std::unique_ptr<PartReader> reader_;
  int64_t reader_next_ = 0;
  int64_t reader_last_ = 0;
};

}  // namespace blockreplay::replay
