#include "storage/kv/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace blockreplay::storage {
namespace {

absl::Status CannotLock(int error, const char* doing, const std::string& name) {
  return absl::ErrnoToStatus(error, absl::StrCat("cannot ", doing, " ", name));
}

}  // namespace

DirectoryLock::~DirectoryLock() {
  if (fd_ >= 0) close(fd_);
}

absl::StatusOr<DirectoryLock> DirectoryLock::TakeShared(const std::string& directory) {
  const std::string name = directory + "/LOCK";
  DirectoryLock lock(open(name.c_str(), O_RDONLY | O_CLOEXEC));
  if (lock.fd_ < 0) {
    if (errno == ENOENT) return lock;
    return CannotLock(errno, "open", name);
  }
  const auto in_use = [&](const std::string& by) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot open database ", directory, ": it is in use by ", by,
                     "; stop that process, or copy the directory and read the copy"));
  };
  // An open file description's lock, because one of the process would be lost when any other
  // descriptor of the file is closed.
  struct flock range{};
  range.l_type = F_RDLCK;
  range.l_whence = SEEK_SET;
  if (fcntl(lock.fd_, F_OFD_SETLK, &range) != 0) {
    if (errno != EAGAIN && errno != EACCES) return CannotLock(errno, "lock", name);
    struct flock holder{};
    holder.l_type = F_RDLCK;
    holder.l_whence = SEEK_SET;
    const bool known = fcntl(lock.fd_, F_GETLK, &holder) == 0 && holder.l_type != F_UNLCK;
    return in_use(known && holder.l_pid > 0 ? absl::StrCat("process ", holder.l_pid)
                                            : "another process");
  }
  if (flock(lock.fd_, LOCK_SH | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return CannotLock(errno, "lock", name);
    return in_use("another process (a node?)");
  }
  return lock;
}

}  // namespace blockreplay::storage
