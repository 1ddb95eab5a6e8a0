#pragma once

#include "absl/status/status.h"
#include "replay/record/handshake.h"
#include "replay/record/recorder.h"

namespace blockreplay::replay {

// Serves a node as its streaming plugin: prints the handshake line, answers until the node says
// Shutdown or is gone (nobody reads our standard output any more), then returns with the calls at
// hand finished. Services: ABCIListenerService; grpc.health.v1.Health
// ("plugin"); GRPCController; GRPCStdio, which has nothing to say; GRPCBroker, which connects
// nothing. Messages up to the size of a recording's largest block are taken, others answered with
// RESOURCE_EXHAUSTED.
//
// Signals that a terminal or a service manager sends to a whole process group (INT, TERM, HUP) are
// ignored: the node decides when it has committed its last block.
absl::Status ServeNode(const HandshakeRequest& handshake, Recorder* recorder);

}  // namespace blockreplay::replay
