#include "profiling/thread_list.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstring>

namespace blockreplay::profiling {

std::vector<pid_t> ListThreads() {
  std::vector<pid_t> tids;
  DIR* dir = opendir("/proc/self/task");
  if (dir == nullptr) return tids;
  while (const dirent* entry = readdir(dir)) {
    pid_t tid = 0;
    const char* end = entry->d_name + std::strlen(entry->d_name);
    const auto [rest, error] = std::from_chars(entry->d_name, end, tid);
    if (error == std::errc() && rest == end) tids.push_back(tid);
  }
  closedir(dir);
  return tids;
}

std::string ThreadName(pid_t tid) {
  char path[64];
  std::snprintf(path, sizeof(path), "/proc/self/task/%d/comm", tid);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return "";
  char name[64];
  const ssize_t size = read(fd, name, sizeof(name));
  close(fd);
  if (size <= 0) return "";
  return std::string(name, static_cast<size_t>(size) - (name[size - 1] == '\n' ? 1 : 0));
}

}  // namespace blockreplay::profiling
