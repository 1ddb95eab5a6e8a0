#pragma once

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "perftools/profiles/profile.pb.h"

namespace blockreplay::profiling {

// One profile with the samples of all: of shards of a range, of repetitions. By the rules of
// pprof's own merge: samples with equal stacks and labels add up, time is the earliest, durations
// add up, comments are kept once. All must be profiles that CheckProfile accepts; they may come
// from processes that were loaded at other addresses. InvalidArgument: there are none, or they
// measure different things (sample types, period type).
absl::StatusOr<perftools::profiles::Profile> MergeProfiles(
    absl::Span<const perftools::profiles::Profile> profiles);

}  // namespace blockreplay::profiling
