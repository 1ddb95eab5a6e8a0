#pragma once

#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace blockreplay::storage {

// Shared locks on the LOCK file of a LevelDB or RocksDB directory, of both kinds: while they are
// held, neither goleveldb (flock) nor LevelDB or RocksDB (fcntl) opens it for writing. Nothing is
// written.
class DirectoryLock {
 public:
  // kFailedPrecondition if a process is using the directory. A directory without a LOCK file, never
  // opened since it was copied, is not locked.
  static absl::StatusOr<DirectoryLock> TakeShared(const std::string& directory);

  DirectoryLock() = default;
  DirectoryLock(DirectoryLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  DirectoryLock& operator=(DirectoryLock&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~DirectoryLock();

 private:
  explicit DirectoryLock(int fd) : fd_(fd) {}

  int fd_ = -1;
};

}  // namespace blockreplay::storage
