#include "storage/kv/rocksdb_text_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

namespace blockreplay::storage {
namespace {

constexpr size_t kMaxBytes = size_t{16} << 20;

}  // namespace

RocksDbTextLog::RocksDbTextLog(const std::string& directory) : path_(directory + "/LOG") { Open(); }

RocksDbTextLog::~RocksDbTextLog() {
  if (fd_ >= 0) close(fd_);
}

void RocksDbTextLog::Open() {
  fd_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  struct stat info{};
  if (fd_ >= 0 && fstat(fd_, &info) == 0) size_ = static_cast<size_t>(info.st_size);
}

void RocksDbTextLog::Logv(const char* format, va_list arguments) {
  char line[4096];
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm local{};
  localtime_r(&now.tv_sec, &local);
  const size_t date = std::strftime(line, sizeof(line), "%Y/%m/%d-%H:%M:%S", &local);
  const int head = std::snprintf(line + date, sizeof(line) - date, ".%06ld %d ", now.tv_nsec / 1000,
                                 static_cast<int>(gettid()));
  size_t used = date + static_cast<size_t>(std::max(head, 0));
  const int body = std::vsnprintf(line + used, sizeof(line) - used, format, arguments);
  // Longer lines (a dump of all options) are cut; one byte stays for the end of line.
  used = std::min(used + static_cast<size_t>(std::max(body, 0)), sizeof(line) - 1);
  if (line[used - 1] != '\n') line[used++] = '\n';

  const std::lock_guard lock(mutex_);
  if (fd_ >= 0 && size_ > kMaxBytes) {
    close(fd_);
    std::rename(path_.c_str(), (path_ + ".old").c_str());
    size_ = 0;
    Open();
  }
  if (fd_ < 0) return;
  const ssize_t written = write(fd_, line, used);
  if (written > 0) size_ += static_cast<size_t>(written);
}

size_t RocksDbTextLog::GetLogFileSize() const {
  const std::lock_guard lock(mutex_);
  return size_;
}

}  // namespace blockreplay::storage
