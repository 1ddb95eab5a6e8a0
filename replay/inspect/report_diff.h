#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace blockreplay::replay {

struct ReportField {
  std::string name;  // "cpu_s.process"
  nlohmann::json left;
  nlohmann::json right;
};

struct ReportDiff {
  // What must be equal for two runs to have had the same results, where they differ: recording,
  // range, blocks verified, app hash, app hash chain, digests.
  std::vector<ReportField> results;
  // Measurements, all of them, for comparison by eye; scripts/perf/ab.sh says whether a difference
  // is one.
  std::vector<ReportField> measurements;
};

// kInvalidArgument where one of them is no report.
absl::StatusOr<ReportDiff> DiffReports(const std::string& left_path, const std::string& right_path);

}  // namespace blockreplay::replay
