#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace blockreplay::profiling {

// gperftools' CPU profile format: machine words, a header (0, 3, 0, microseconds between samples,
// 0), records (count, depth, addresses), a trailer (0, 1, 0), then the text of /proc/self/maps.
struct GperftoolsProfile {
  struct Record {
    uint64_t count = 0;
    // Leaf first; callers' addresses one less than the return address.
    std::vector<uintptr_t> stack;
  };
  int64_t period_nanos = 0;
  std::vector<Record> records;
};

// For profiles of this machine's word size and byte order. `bytes` may be anything.
absl::StatusOr<GperftoolsProfile> ParseGperftoolsProfile(std::string_view bytes);

// gperftools' CPU profiler (libprofiler.so.0), loaded when first used: it reads its settings from
// the environment when it is loaded, and its unwinder must be libgcc's to see through RocksDB.
// Settings that the user made are left alone.
class GperftoolsCpuProfiler {
 public:
  GperftoolsCpuProfiler() = default;
  ~GperftoolsCpuProfiler();
  GperftoolsCpuProfiler(const GperftoolsCpuProfiler&) = delete;
  GperftoolsCpuProfiler& operator=(const GperftoolsCpuProfiler&) = delete;

  // `hz` counts for the first start in a process; the library never reads it again. Unavailable if
  // the library isn't installed.
  absl::Status Start(int hz);

  // The profile since Start.
  absl::StatusOr<GperftoolsProfile> Stop();

 private:
  std::string path_;  // of the temporary file that the library writes; "" if not running
};

}  // namespace blockreplay::profiling
