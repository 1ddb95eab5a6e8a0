#pragma once

#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// The part of hashicorp/go-plugin's protocol that precedes gRPC: a cookie in the environment, and a
// line on standard output.
namespace blockreplay::replay {

// An environment variable; nothing where it isn't set.
using Environment = std::function<std::optional<std::string>(const char* name)>;

struct HandshakeRequest {
  // Where the socket goes.
  std::string socket_dir;
  // Whether the host reads the field that says if brokered connections can share one (they cannot).
  bool asks_for_multiplexing = false;
};

// What the host put into the environment. kFailedPrecondition, with what to do: nobody's host
// started this process. kUnimplemented: a host that asks for something that no Cosmos SDK node asks
// for.
absl::StatusOr<HandshakeRequest> ReadHandshake(const Environment& environment);

// The answer: core protocol 1, application protocol 1, gRPC on the Unix socket `path`, no TLS. With
// the newline.
std::string HandshakeLine(const HandshakeRequest& request, const std::string& path);

}  // namespace blockreplay::replay
