#include "profiling/thread_clock.h"

#include <unistd.h>

#include "profiling/labels.h"
#include "profiling/thread_list.h"

namespace blockreplay::profiling {

std::map<std::string, int64_t> ThreadCpuNanosByRole() {
  std::map<std::string, int64_t> by_role;
  for (const pid_t tid : ListThreads()) {
    timespec used;
    if (clock_gettime(ThreadCpuClock(tid), &used) != 0) continue;  // ended meanwhile
    by_role[ThreadRoleOf(ThreadName(tid), tid == getpid())] +=
        int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
  }
  return by_role;
}

}  // namespace blockreplay::profiling
