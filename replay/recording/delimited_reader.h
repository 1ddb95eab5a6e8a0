#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "replay/recording/byte_source.h"

namespace blockreplay::replay {

// Cuts a stream of varint-length-delimited messages into messages. A length prefix is believed only
// as far as bytes arrive: memory grows with the data, and a length above kMaxMessageSize is an
// error. Not thread-safe.
class DelimitedReader {
 public:
  static constexpr uint64_t kMaxMessageSize = uint64_t{512} << 20;

  // `name` stands for the stream in messages.
  DelimitedReader(std::unique_ptr<ByteSource> source, std::string name);

  // The next message into `*message`; false at the end of the stream. A stream that ends inside a
  // message, or a prefix that is none, is an error.
  absl::StatusOr<bool> Next(std::string* message);

  // Offset in the uncompressed stream at which the last message (its prefix) began.
  uint64_t message_offset() const { return message_offset_; }
  // "blocks.zst: message 3 at uncompressed offset 1234", for the last message.
  std::string Where() const;

 private:
  // Makes at least one byte available; false at the end of the stream.
  absl::StatusOr<bool> Fill();
  absl::Status DataLoss(const std::string& problem) const;

  std::unique_ptr<ByteSource> source_;
  std::string name_;
  std::string buffer_;
  size_t begin_ = 0;  // of the bytes of buffer_ not used yet
  size_t end_ = 0;
  uint64_t offset_ = 0;  // of begin_ in the stream
  uint64_t message_offset_ = 0;
  uint64_t messages_ = 0;
};

}  // namespace blockreplay::replay
