#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "perftools/profiles/profile.pb.h"

namespace blockreplay::profiling {

// Profiles as files: profile.proto, gzipped, as pprof and everything around it reads and writes.

// InvalidArgument with what is wrong if pprof would refuse the profile, or if it breaks a rule that
// pprof leaves to writers: strings and ids in range, ids unique and not zero, as many values as
// sample types, addresses within their mappings, labels with one value.
absl::Status CheckProfile(const perftools::profiles::Profile& profile);

// The gzipped wire format.
absl::StatusOr<std::string> EncodeProfile(const perftools::profiles::Profile& profile);

// Gzipped or plain. Checks with CheckProfile. `bytes` may be anything; more than `max_size` bytes
// after decompression are refused.
inline constexpr size_t kMaxProfileBytes = size_t{1} << 30;
absl::StatusOr<perftools::profiles::Profile> DecodeProfile(std::string_view bytes,
                                                           size_t max_size = kMaxProfileBytes);

// Replaces `path` by `bytes`, or leaves it alone: writes a temporary file beside it, syncs it,
// renames it, syncs the directory.
absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes);

absl::Status WriteProfile(const perftools::profiles::Profile& profile, const std::string& path);
absl::StatusOr<perftools::profiles::Profile> ReadProfile(const std::string& path);

}  // namespace blockreplay::profiling
