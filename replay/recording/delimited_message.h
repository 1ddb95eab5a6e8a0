#pragma once

#include <google/protobuf/message_lite.h>

#include <string>

#include "absl/status/statusor.h"

namespace blockreplay::replay {

// A message of a recording's stream: its deterministic serialization behind its length as a varint.
// An error if it cannot be serialized (2 GiB and more).
absl::StatusOr<std::string> DelimitedMessage(const google::protobuf::MessageLite& message);

}  // namespace blockreplay::replay
