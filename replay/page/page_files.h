#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "replay/page/page.h"

namespace blockreplay::replay {

// Takes the profiles that a run has written, by the paths in its report's options. One that is not
// there (any more) is left out, and named in `*notes`. `folder`: where to look first, "" for
// nowhere but at the path itself.
absl::Status AddProfiles(const std::string& folder, PageRun* run, std::vector<std::string>* notes);

// A report with the CSV and the profiles that it names, which may have moved with it.
absl::StatusOr<PageRun> LoadPageRun(const std::string& report_path,
                                    std::vector<std::string>* notes);

// Gives runs with equal names others, from the folders that their reports are in.
void DistinguishNames(const std::vector<std::string>& report_paths, std::vector<PageRun>* runs);

// pprof profiles of a node, and at most one JSON object with its figures, in any order. The node's
// name is the figures' "name", else that of the first file.
absl::StatusOr<PageNode> LoadPageNode(const std::vector<std::string>& paths);

}  // namespace blockreplay::replay
