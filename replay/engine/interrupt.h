#pragma once

namespace blockreplay::replay {

// SIGINT and SIGTERM while it lives: the first one asks the run to finish its block and stop, a
// second one ends the process as usual. SIGPIPE and SIGXFSZ are ignored, so that a closed pipe or a
// file size limit are errors of the write that meets them, and everything else is still written.
// One at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  // The signal that came, 0 if none. Any thread.
  static int Received();
};

}  // namespace blockreplay::replay
