#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "nlohmann/json.hpp"
#include "profiling/process_stats.h"

namespace blockreplay::replay {

// The machine, and what else happened on it during a run: what a reader needs to judge whether two
// runs compare.
class HostRecord {
 public:
  // Takes the first readings.
  HostRecord();
  // Takes the last ones.
  void Finish();

  // report.json's "host". Readings that the system doesn't give are null. "psi" is the share of the
  // time in which some task waited for the resource, in percent; "steal" the share of the machine's
  // CPU time that the hypervisor took, in percent.
  nlohmann::json ToJson() const;
  // "Intel Xeon …, 2 cores, Linux 6.1.0, RocksDB 7.8.3, tcmalloc 2.10"
  std::string OneLine() const;

 private:
  struct Readings {
    int64_t monotonic_nanos = 0;
    std::optional<profiling::LoadAverage> load;
    profiling::PressureStalls pressure;
    std::optional<profiling::MachineCpu> cpu;
  };
  static Readings Read();

  profiling::HostInfo info_;
  Readings start_;
  Readings end_;
};

}  // namespace blockreplay::replay
