#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "profiling/profile_view.h"

namespace blockreplay::replay {

// A profile's values by the phases of report.json, plus "compaction", "flush", "gc" (the Go
// runtime's collector) and "other". Profiles of ours say the phase by label; those of a Cosmos SDK
// or tm2 node say nothing, and samples are sorted by the functions on their stacks.
std::map<std::string, int64_t> SumByPhase(const profiling::ProfileView& view, size_t type);

// The phase of a stack of a Go node, function names root first.
std::string NodePhaseOf(const std::vector<std::string>& functions);

}  // namespace blockreplay::replay
