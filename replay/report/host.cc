#include "replay/report/host.h"

#include <rocksdb/version.h>

#include "absl/strings/str_cat.h"
#include "profiling/thread_clock.h"

namespace blockreplay::replay {
namespace {

using nlohmann::json;

json LoadJson(const std::optional<profiling::LoadAverage>& load) {
  if (!load) return nullptr;
  return json::array({load->one_minute, load->five_minutes, load->fifteen_minutes});
}

json StalledPercent(const std::optional<int64_t>& start, const std::optional<int64_t>& end,
                    int64_t wall_nanos) {
  if (!start || !end || wall_nanos <= 0) return nullptr;
  return static_cast<double>(*end - *start) * 1000 / static_cast<double>(wall_nanos) * 100;
}

}  // namespace

HostRecord::HostRecord() : info_(profiling::GetHostInfo()), start_(Read()), end_(start_) {}

void HostRecord::Finish() { end_ = Read(); }

HostRecord::Readings HostRecord::Read() {
  return {profiling::MonotonicNanos(), profiling::GetLoadAverage(), profiling::GetPressureStalls(),
          profiling::GetMachineCpu()};
}

json HostRecord::ToJson() const {
  const int64_t wall = end_.monotonic_nanos - start_.monotonic_nanos;
  json steal = nullptr;
  if (start_.cpu && end_.cpu && end_.cpu->total_nanos > start_.cpu->total_nanos) {
    steal = static_cast<double>(end_.cpu->steal_nanos - start_.cpu->steal_nanos) /
            static_cast<double>(end_.cpu->total_nanos - start_.cpu->total_nanos) * 100;
  }
  return {
      {"cpu", info_.cpu_model},
      {"cores", info_.cores_allowed},
      {"cores_online", info_.cores_online},
      {"memory_bytes", info_.memory_bytes},
      {"kernel", info_.kernel},
      {"rocksdb", absl::StrCat(ROCKSDB_MAJOR, ".", ROCKSDB_MINOR, ".", ROCKSDB_PATCH)},
      {"allocator", profiling::AllocatorName()},
      {"loadavg_start", LoadJson(start_.load)},
      {"loadavg_end", LoadJson(end_.load)},
      {"psi",
       {{"cpu",
         StalledPercent(start_.pressure.cpu_some_micros, end_.pressure.cpu_some_micros, wall)},
        {"io", StalledPercent(start_.pressure.io_some_micros, end_.pressure.io_some_micros, wall)},
        {"memory", StalledPercent(start_.pressure.memory_some_micros,
                                  end_.pressure.memory_some_micros, wall)}}},
      {"steal", steal},
  };
}

std::string HostRecord::OneLine() const {
  return absl::StrCat(info_.cpu_model.empty() ? "unknown CPU" : info_.cpu_model, ", ",
                      info_.cores_allowed, " cores, ", info_.kernel, ", RocksDB ", ROCKSDB_MAJOR,
                      ".", ROCKSDB_MINOR, ".", ROCKSDB_PATCH, ", ", profiling::AllocatorName());
}

}  // namespace blockreplay::replay
