#pragma once

#include <string>

#include "nlohmann/json.hpp"
#include "profiling/profile_view.h"

namespace blockreplay::replay {

// A profile for the page's flame graph: {"name", "types": [{type, unit}], "default": index,
// "functions": [names], "nodes": [parent, function, …] (a tree of calls; parents come first, -1 is
// the root), "labels": [{key: value}], "samples": [node, labels, a value per type, …]}, and, if
// there is one, "phases" with the default type's sums by phase.
nlohmann::json ProfileToJson(const std::string& name, const profiling::ProfileView& view);

}  // namespace blockreplay::replay
