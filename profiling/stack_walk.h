#pragma once

#include <cstdint>

namespace blockreplay::profiling {

// Deeper stacks are cut at the root's end.
inline constexpr int kMaxStackDepth = 256;

struct StackWalk {
  int depth = 0;
  bool truncated = false;
};

// Call stacks by libgcc's unwinder, which reads the call frame information that all code carries:
// Debian's RocksDB has no frame pointers. With GCC >= 12 and glibc >= 2.35 it finds that
// information without locks (_dl_find_object), and neither allocates, so it may run in a signal
// handler.
//
// Addresses are leaf first. Those of callers are one less than the return address, hence inside the
// call instruction: the return address itself may already belong to another line or function.

// Must be called once outside of signal handlers before the first walk: the unwinder initialises
// itself on first use.
void PrepareStackWalks();

// The stack that the signal with this context interrupted, the interrupted instruction first.
// Async-signal-safe.
StackWalk WalkInterruptedStack(const void* ucontext, uintptr_t* addresses);

// The caller's stack, its own frame first. Async-signal-safe.
StackWalk WalkOwnStack(uintptr_t* addresses);

}  // namespace blockreplay::profiling
