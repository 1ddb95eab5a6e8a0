#include "profiling/process_stats.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

// In programs that link profiling_allocator (allocation_counter.cc).
extern "C" void blockreplay_allocation_totals(int64_t* allocations, int64_t* bytes)
    __attribute__((weak));

namespace blockreplay::profiling {
namespace {

constexpr int64_t kKibi = 1024;

std::optional<std::string> ReadSmallFile(const char* path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The number after `name` at the start of a line of `text`.
std::optional<int64_t> NumberAfter(std::string_view text, std::string_view name) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with(name)) continue;
    line.remove_prefix(name.size());
    line.remove_prefix(std::min(line.find_first_of("0123456789"), line.size()));
    int64_t number = 0;
    if (std::from_chars(line.data(), line.data() + line.size(), number).ec == std::errc()) {
      return number;
    }
    return std::nullopt;
  }
  return std::nullopt;
}

int64_t ToNanos(const timeval& time) {
  return int64_t{time.tv_sec} * 1'000'000'000 + int64_t{time.tv_usec} * 1000;
}

}  // namespace

ProcessUsage GetProcessUsage() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  ProcessUsage result;
  result.user_nanos = ToNanos(usage.ru_utime);
  result.system_nanos = ToNanos(usage.ru_stime);
  result.peak_rss_bytes = int64_t{usage.ru_maxrss} * kKibi;
  result.minor_faults = usage.ru_minflt;
  result.major_faults = usage.ru_majflt;
  result.voluntary_switches = usage.ru_nvcsw;
  result.involuntary_switches = usage.ru_nivcsw;
  return result;
}

MemoryUsage GetMemoryUsage() {
  MemoryUsage usage;
  if (const auto status = ReadSmallFile("/proc/self/status")) {
    usage.rss_bytes = NumberAfter(*status, "VmRSS:").value_or(0) * kKibi;
    usage.peak_rss_bytes = NumberAfter(*status, "VmHWM:").value_or(0) * kKibi;
    usage.virtual_bytes = NumberAfter(*status, "VmSize:").value_or(0) * kKibi;
    usage.page_table_bytes = NumberAfter(*status, "VmPTE:").value_or(0) * kKibi;
    usage.swap_bytes = NumberAfter(*status, "VmSwap:").value_or(0) * kKibi;
  }
  if (const auto maps = ReadSmallFile("/proc/self/maps")) {
    usage.mappings = std::count(maps->begin(), maps->end(), '\n');
  }
  return usage;
}

int64_t CurrentRssBytes() {
  // Kept open: opening and closing take most of the time.
  static const int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  char text[128];
  const ssize_t size = pread(fd, text, sizeof(text) - 1, 0);
  if (size <= 0) return 0;
  text[size] = '\0';
  char* resident = nullptr;
  (void)std::strtoll(text, &resident, 10);
  return std::strtoll(resident, nullptr, 10) * sysconf(_SC_PAGESIZE);
}

bool ResetPeakRss() {
  const int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool written = write(fd, "5", 1) == 1;
  close(fd);
  return written;
}

std::optional<IoUsage> GetIoUsage() {
  const auto text = ReadSmallFile("/proc/self/io");
  if (!text) return std::nullopt;
  const auto read_bytes = NumberAfter(*text, "read_bytes:");
  const auto written_bytes = NumberAfter(*text, "write_bytes:");
  if (!read_bytes || !written_bytes) return std::nullopt;
  return IoUsage{.read_bytes = *read_bytes, .written_bytes = *written_bytes};
}

HostInfo GetHostInfo() {
  HostInfo info;
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (!line.starts_with("model name")) continue;
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) info.cpu_model = line.substr(colon + 2);
    break;
  }
  info.cores_online = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  cpu_set_t set;
  CPU_ZERO(&set);
  info.cores_allowed =
      sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : info.cores_online;
  utsname name{};
  if (uname(&name) == 0) info.kernel = absl::StrCat(name.sysname, " ", name.release);
  info.memory_bytes = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  return info;
}

std::optional<LoadAverage> GetLoadAverage() {
  const auto text = ReadSmallFile("/proc/loadavg");
  LoadAverage load;
  if (!text || std::sscanf(text->c_str(), "%lf %lf %lf", &load.one_minute, &load.five_minutes,
                           &load.fifteen_minutes) != 3) {
    return std::nullopt;
  }
  return load;
}

PressureStalls GetPressureStalls() {
  const auto total = [](const char* path) -> std::optional<int64_t> {
    const auto text = ReadSmallFile(path);
    if (!text) return std::nullopt;
    // "some avg10=… avg60=… avg300=… total=MICROSECONDS"
    const size_t at = text->find("total=");
    if (!text->starts_with("some ") || at == std::string::npos) return std::nullopt;
    return NumberAfter(std::string_view(*text).substr(at), "total=");
  };
  return {.cpu_some_micros = total("/proc/pressure/cpu"),
          .io_some_micros = total("/proc/pressure/io"),
          .memory_some_micros = total("/proc/pressure/memory")};
}

std::optional<MachineCpu> GetMachineCpu() {
  const auto text = ReadSmallFile("/proc/stat");
  if (!text) return std::nullopt;
  // user nice system idle iowait irq softirq steal; guest time is part of user.
  long long ticks[8] = {};
  if (std::sscanf(text->c_str(), "cpu %lld %lld %lld %lld %lld %lld %lld %lld", &ticks[0],
                  &ticks[1], &ticks[2], &ticks[3], &ticks[4], &ticks[5], &ticks[6],
                  &ticks[7]) != 8) {
    return std::nullopt;
  }
  const int64_t nanos_per_tick = 1'000'000'000 / sysconf(_SC_CLK_TCK);
  MachineCpu cpu;
  for (const long long value : ticks) cpu.total_nanos += value * nanos_per_tick;
  cpu.idle_nanos = (ticks[3] + ticks[4]) * nanos_per_tick;
  cpu.steal_nanos = ticks[7] * nanos_per_tick;
  return cpu;
}

std::string AllocatorName() {
  // From gperftools, if it is there: no need to link it for its name.
  using Version = const char* (*)(int*, int*, const char**);
  const auto version = reinterpret_cast<Version>(dlsym(RTLD_DEFAULT, "tc_version"));
  if (version == nullptr) return "libc";
  int major = 0;
  int minor = 0;
  const char* patch = "";
  version(&major, &minor, &patch);
  return absl::StrCat("tcmalloc ", major, ".", minor, patch);
}

std::optional<AllocationTotals> GetAllocationTotals() {
  if (blockreplay_allocation_totals == nullptr) return std::nullopt;
  AllocationTotals totals;
  blockreplay_allocation_totals(&totals.allocations, &totals.bytes);
  return totals;
}

absl::StatusOr<std::unique_ptr<InstructionCounter>> InstructionCounter::Open() {
  perf_event_attr attributes{};
  attributes.size = sizeof(attributes);
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  attributes.inherit = 1;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  const auto fd =
      static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
  if (fd < 0) {
    return absl::UnavailableError(
        absl::StrCat("instructions cannot be counted here: ", std::strerror(errno)));
  }
  return std::unique_ptr<InstructionCounter>(new InstructionCounter(fd));
}

InstructionCounter::~InstructionCounter() { close(fd_); }

std::optional<int64_t> InstructionCounter::Read() const {
  struct {
    uint64_t value;
    uint64_t enabled;
    uint64_t running;
  } reading{};
  if (read(fd_, &reading, sizeof(reading)) != sizeof(reading) || reading.running == 0) {
    return std::nullopt;
  }
  return static_cast<int64_t>(static_cast<double>(reading.value) *
                              static_cast<double>(reading.enabled) /
                              static_cast<double>(reading.running));
}

}  // namespace blockreplay::profiling
