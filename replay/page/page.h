#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "nlohmann/json.hpp"
#include "profiling/profile_view.h"

namespace blockreplay::replay {

// A profile with the name that the page shows.
using NamedProfile = std::pair<std::string, profiling::ProfileView>;

// What the page shows of a run.
struct PageRun {
  std::string name;
  nlohmann::json report;  // report.json
  std::string csv;        // the text of --csv; "" for none
  std::vector<NamedProfile> profiles;
};

// A node to compare with.
struct PageNode {
  std::string name;
  std::vector<NamedProfile> profiles;
  nlohmann::json figures;  // with report.json's names as far as it has them; null for none
};

// InvalidArgument, with what is missing, for JSON that is no report of a run.
absl::Status CheckReport(const nlohmann::json& report);

// One page that needs nothing else, for one run or two. What is in it was written by others (names
// of functions, labels): it is data to the page's script, and never markup. `tool` is {"version",
// "revision"}.
absl::StatusOr<std::string> RenderPage(absl::Span<const PageRun> runs,
                                       const std::optional<PageNode>& node,
                                       const nlohmann::json& tool);

}  // namespace blockreplay::replay
