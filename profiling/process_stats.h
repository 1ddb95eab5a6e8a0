#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace blockreplay::profiling {

// Small readings of what the kernel knows about this process and this machine. A reading that isn't
// to be had (no such file in this container, old kernel) is nullopt or 0 as said, never an error.

// From getrusage(RUSAGE_SELF): all threads, ended ones included.
struct ProcessUsage {
  int64_t user_nanos = 0;
  int64_t system_nanos = 0;
  int64_t peak_rss_bytes = 0;  // since the process began
  int64_t minor_faults = 0;
  int64_t major_faults = 0;
  int64_t voluntary_switches = 0;
  int64_t involuntary_switches = 0;

  int64_t cpu_nanos() const { return user_nanos + system_nanos; }
};
ProcessUsage GetProcessUsage();

// From /proc/self/status and /proc/self/maps; 0 where unknown. About 100 µs.
struct MemoryUsage {
  int64_t rss_bytes = 0;
  int64_t peak_rss_bytes = 0;  // since the process began, or since ResetPeakRss
  int64_t virtual_bytes = 0;
  int64_t page_table_bytes = 0;  // VmPTE: grows when mappings leak
  int64_t swap_bytes = 0;
  int64_t mappings = 0;
};
MemoryUsage GetMemoryUsage();

// The resident set only, from /proc/self/statm: about 5 µs, for a row per block.
int64_t CurrentRssBytes();

// Makes MemoryUsage::peak_rss_bytes start anew. False where the kernel doesn't allow it.
bool ResetPeakRss();

// From /proc/self/io; nullopt where the kernel doesn't count.
struct IoUsage {
  int64_t read_bytes = 0;     // fetched from storage
  int64_t written_bytes = 0;  // sent to storage (page cache write-back)
};
std::optional<IoUsage> GetIoUsage();

// The machine.
struct HostInfo {
  std::string cpu_model;  // "" where unknown
  int cores_online = 0;
  int cores_allowed = 0;  // by this process's affinity mask
  std::string kernel;     // "Linux 6.1.0-18-amd64"
  int64_t memory_bytes = 0;
};
HostInfo GetHostInfo();

// From /proc/loadavg.
struct LoadAverage {
  double one_minute = 0;
  double five_minutes = 0;
  double fifteen_minutes = 0;
};
std::optional<LoadAverage> GetLoadAverage();

// Pressure stall information, /proc/pressure/*: microseconds since boot in which some task waited
// for the resource. Differences of two readings over the wall time between them give the stalled
// share.
struct PressureStalls {
  std::optional<int64_t> cpu_some_micros;
  std::optional<int64_t> io_some_micros;
  std::optional<int64_t> memory_some_micros;
};
PressureStalls GetPressureStalls();

// CPU time of the whole machine since boot, from /proc/stat.
struct MachineCpu {
  int64_t total_nanos = 0;  // all states, idle included
  int64_t idle_nanos = 0;   // idle and waiting for I/O
  int64_t steal_nanos = 0;  // taken by the hypervisor for others
};
std::optional<MachineCpu> GetMachineCpu();

// Which allocator serves this program: "tcmalloc 2.10" or "libc".
std::string AllocatorName();

// Allocations since the process began, all threads, frees not subtracted. Exact. nullopt in
// programs that aren't linked with profiling_allocator (sanitizer builds). About 1 µs; differences
// give allocations per block.
struct AllocationTotals {
  int64_t allocations = 0;
  int64_t bytes = 0;  // as requested, not as rounded up
};
std::optional<AllocationTotals> GetAllocationTotals();

// Counts instructions retired in user mode by the calling thread and all threads that it and its
// descendants start afterwards: open it first thing in main.
class InstructionCounter {
 public:
  // Unavailable where the machine, the container or kernel.perf_event_paranoid doesn't let us
  // count.
  static absl::StatusOr<std::unique_ptr<InstructionCounter>> Open();
  ~InstructionCounter();
  InstructionCounter(const InstructionCounter&) = delete;
  InstructionCounter& operator=(const InstructionCounter&) = delete;

  // Instructions since Open, scaled up if the counter was shared with others; nullopt if it never
  // ran.
  std::optional<int64_t> Read() const;

 private:
  explicit InstructionCounter(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace blockreplay::profiling
