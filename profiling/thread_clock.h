#pragma once

#include <sys/types.h>

#include <cstdint>
#include <ctime>
#include <map>
#include <string>

namespace blockreplay::profiling {

// CPU time that the calling thread has used, in nanoseconds. About 100 ns.
inline int64_t ThreadCpuNanos() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// CPU time that all threads of the process have used, ended ones included, in nanoseconds.
inline int64_t ProcessCpuNanos() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Monotonic wall time in nanoseconds.
inline int64_t MonotonicNanos() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// The CPU clock of any thread of this process: the kernel's encoding, ~tid << 3 | per-thread (4) |
// scheduler time (2), which pthread_getcpuclockid gives for threads whose pthread_t one has.
inline clockid_t ThreadCpuClock(pid_t tid) {
  return static_cast<clockid_t>((~static_cast<unsigned>(tid) << 3) | 6u);
}

// CPU time in nanoseconds of the living threads of this process by role (labels.h ThreadRoleOf,
// from their kernel names): "compaction" and "flush" are RocksDB's pools, whose threads live as
// long as the process. Two readings differ by what the threads did in between; threads that ended
// in between are missing in the second.
std::map<std::string, int64_t> ThreadCpuNanosByRole();

// Adds the CPU time that the calling thread uses while it lives to `*total` (nanoseconds).
class [[nodiscard]] ScopedThreadCpu {
 public:
  explicit ScopedThreadCpu(int64_t* total) : total_(total), start_(ThreadCpuNanos()) {}
  ~ScopedThreadCpu() { *total_ += ThreadCpuNanos() - start_; }
  ScopedThreadCpu(const ScopedThreadCpu&) = delete;
  ScopedThreadCpu& operator=(const ScopedThreadCpu&) = delete;

 private:
  int64_t* total_;
  int64_t start_;
};

}  // namespace blockreplay::profiling
