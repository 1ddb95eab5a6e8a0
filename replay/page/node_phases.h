#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "profiling/profile_view.h"

namespace blockreplay::replay {

// The phase of a stack of a Cosmos SDK or tm2 node, function names root first: one of
// report.json's, or "compaction", "flush", "gc" (the Go runtime's collector), "other".
std::string NodePhaseOf(const std::vector<std::string>& functions);

// Labels the samples of a node's profile, which says nothing of phases, with "phase" by the
// functions on their stacks. Leaves profiles alone that have such labels, or that are of no node:
// no function of theirs belongs to any phase.
void LabelNodePhases(profiling::ProfileView* view);

// A profile's values by its label "phase"; samples without it by their thread's role, or "other".
std::map<std::string, int64_t> SumByPhase(const profiling::ProfileView& view, size_t type);

}  // namespace blockreplay::replay
