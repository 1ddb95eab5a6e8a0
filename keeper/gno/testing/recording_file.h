#pragma once

// For tests and benchmarks of this unit, which replay recordings without the replay engine.

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace blockreplay::keeper::gno::testing {

// Everything in a zstd file.
absl::StatusOr<std::string> ReadZstd(const std::string& path);

// The messages of a file of length-delimited protobuf messages.
template <typename Message>
absl::StatusOr<std::vector<Message>> ReadMessages(const std::string& path);

}  // namespace blockreplay::keeper::gno::testing
