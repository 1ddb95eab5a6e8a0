#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace blockreplay::profiling {

// The ids of this process's threads, from /proc/self/task. Empty if that can't be read.
std::vector<pid_t> ListThreads();

// The name that the kernel has for a thread; "" if it has ended.
std::string ThreadName(pid_t tid);

}  // namespace blockreplay::profiling
