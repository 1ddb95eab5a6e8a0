#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "replay/recording/byte_source.h"

namespace blockreplay::replay {

// Cuts a stream of bytes into lines. Not thread-safe.
class LineReader {
 public:
  // `name` stands for the stream in messages; a line longer than `max_line` bytes is an error.
  LineReader(std::unique_ptr<ByteSource> source, std::string name, size_t max_line);

  // The next line without its '\n'; false at the end. The last line may lack its '\n'.
  absl::StatusOr<bool> Next(std::string* line);

  // Of the last line, from 1.
  int64_t line_number() const { return line_number_; }
  // Whether the last line had its '\n'.
  bool line_ended() const { return line_ended_; }
  // kDataLoss about the last line: "<name>: line <number>: <problem>".
  absl::Status Malformed(const std::string& problem) const;

 private:
  std::unique_ptr<ByteSource> source_;
  std::string name_;
  size_t max_line_;
  std::string buffer_;
  size_t position_ = 0;
  int64_t line_number_ = 0;
  bool line_ended_ = false;
};

}  // namespace blockreplay::replay
