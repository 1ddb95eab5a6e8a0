#pragma once

#include "absl/status/statusor.h"
#include "perftools/profiles/profile.pb.h"

namespace blockreplay::profiling {

// Where tcmalloc had to ask the system for more memory, since the process began: objects/count,
// space/bytes, one object per request. tcmalloc keeps these stacks whether or not anything is
// sampled. Unavailable in programs without tcmalloc.
absl::StatusOr<perftools::profiles::Profile> HeapGrowthProfile();

}  // namespace blockreplay::profiling
