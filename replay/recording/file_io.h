#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace blockreplay::replay {

// A status that says what was tried on which file and what the system answered (the code follows
// errno).
absl::Status ErrnoStatus(int error, std::string_view action, std::string_view path);

// A file opened for sequential reading. Not thread-safe.
class InputFile {
 public:
  static absl::StatusOr<InputFile> Open(const std::string& path);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  ~InputFile();

  // Bytes read into `buffer`, at most `capacity`; 0 at the end of the file.
  absl::StatusOr<size_t> Read(char* buffer, size_t capacity);
  const std::string& path() const { return path_; }

 private:
  InputFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  int fd_;
  std::string path_;
};

// A file being written. Writes are passed on as they come: buffer above it. Not thread-safe.
class OutputFile {
 public:
  // Creates or truncates.
  static absl::StatusOr<OutputFile> Create(const std::string& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  ~OutputFile();

  absl::Status Write(std::string_view bytes);
  // Reports errors that a file system keeps for close. The object is unusable afterwards.
  absl::Status Close();
  const std::string& path() const { return path_; }

 private:
  OutputFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  int fd_;
  std::string path_;
};

// The whole file; kResourceExhausted if it is larger than `max_size`.
absl::StatusOr<std::string> ReadFile(const std::string& path, size_t max_size);

// Writes to `path`.tmp and renames it, so that `path` is either the old file or all of the new one.
absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes);

// Whether a file could be created at `path` (or is there and writable), without leaving one behind.
absl::Status CheckWritable(const std::string& path);

}  // namespace blockreplay::replay
