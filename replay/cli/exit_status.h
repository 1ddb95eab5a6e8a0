#pragma once

namespace blockreplay::replay {

// Exit statuses of the program; docs/command-line.md is the contract.
enum ExitStatus : int {
  kExitOk = 0,
  kExitError = 1,             // usage, input or system error
  kExitAppHashMismatch = 2,   // also: `diff` found a difference
  kExitExecutionDiffers = 3,  // native phases differ from the recording; every app hash is equal
  kExitResultsMismatch = 4,
  kExitInterrupted = 130,  // SIGINT
  kExitTerminated = 143,   // SIGTERM
};

}  // namespace blockreplay::replay
