#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "blockreplay/v1/partial_state.pb.h"
#include "blockreplay/v1/recording.pb.h"
#include "replay/recording/delimited_reader.h"
#include "replay/recording/manifest.h"

namespace blockreplay::replay {

// The messages of one stream of a recording (`blocks` or `phases`) through all its parts. The
// parts' names and the manifest's heights are checked by the caller, who alone knows how to read a
// message. Not thread-safe.
class PartedStream {
 public:
  // `parts`: file names in order, below `recording_dir`.
  PartedStream(std::string recording_dir, std::vector<std::string> parts);

  // The next message; false after the last part.
  absl::StatusOr<bool> Next(std::string* message);

  // Where the last message stands: file, number in it, uncompressed offset.
  std::string Where() const;
  // The part of the last message, and whether that message is the first in it.
  const std::string& part() const { return parts_[index_ - 1]; }
  bool first_of_part() const { return first_of_part_; }

 private:
  std::string recording_dir_;
  std::vector<std::string> parts_;
  size_t index_ = 0;  // parts opened
  std::unique_ptr<DelimitedReader> reader_;
  bool first_of_part_ = false;
};

// Blocks of a recording in height order. Every height from the manifest's first to its last must
// appear exactly once and in order; an error names the file, the offset and the height. Not
// thread-safe.
class BlockReader {
 public:
  // Does not read anything yet.
  BlockReader(const std::string& recording_dir, const Manifest& manifest);

  // Parses the next block into `*block`, which is cleared before; false after the manifest's last
  // height.
  absl::StatusOr<bool> Next(v1::Block* block);
  // Size of the last block's message.
  size_t encoded_size() const { return message_.size(); }
  const std::string& encoded() const { return message_; }

 private:
  PartedStream stream_;
  int64_t next_height_;
  int64_t last_height_;
  std::string message_;
};

// BlockPhases of a recording, likewise.
class PhasesReader {
 public:
  PhasesReader(const std::string& recording_dir, const Manifest& manifest);

  absl::StatusOr<bool> Next(v1::BlockPhases* phases);

 private:
  PartedStream stream_;
  int64_t next_height_;
  int64_t last_height_;
  std::string message_;
};

// The items of a recording's partial base.
class PartialBaseReader {
 public:
  explicit PartialBaseReader(const std::string& recording_dir);

  // The next item, valid until the next call; null at the end.
  absl::StatusOr<const v1::PartialStateItem*> Next();

 private:
  PartedStream stream_;
  std::string message_;
  v1::PartialStateItem item_;
};

}  // namespace blockreplay::replay
