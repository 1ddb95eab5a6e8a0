#include "profiling/stack_walk.h"

#include <ucontext.h>
#include <unwind.h>

namespace blockreplay::profiling {
namespace {

struct Walk {
  uintptr_t* addresses;
  int depth;
  bool truncated;
  // Frames are skipped until this address comes by; 0: none are.
  uintptr_t wait_for;
};

_Unwind_Reason_Code OnFrame(_Unwind_Context* context, void* argument) {
  auto* walk = static_cast<Walk*>(argument);
  int before_instruction = 0;
  uintptr_t address = _Unwind_GetIPInfo(context, &before_instruction);
  if (address == 0) return _URC_END_OF_STACK;
  if (walk->wait_for != 0) {
    if (address != walk->wait_for) return _URC_NO_REASON;
    walk->wait_for = 0;
  }
  if (walk->depth == kMaxStackDepth) {
    walk->truncated = true;
    return _URC_END_OF_STACK;
  }
  // An interrupted frame's address is the instruction itself, a caller's is where the call returns
  // to.
  walk->addresses[walk->depth++] = before_instruction != 0 ? address : address - 1;
  return _URC_NO_REASON;
}

uintptr_t InterruptedInstruction(const void* context) {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<uintptr_t>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return static_cast<uintptr_t>(machine.pc);
#else
#error "tell where this machine keeps the interrupted instruction's address"
#endif
}

}  // namespace

void PrepareStackWalks() {
  uintptr_t addresses[kMaxStackDepth];
  WalkOwnStack(addresses);
}

StackWalk WalkInterruptedStack(const void* ucontext, uintptr_t* addresses) {
  const uintptr_t leaf = InterruptedInstruction(ucontext);
  Walk walk{.addresses = addresses, .depth = 0, .truncated = false, .wait_for = leaf};
  _Unwind_Backtrace(OnFrame, &walk);
  if (walk.depth == 0) {
    // The signal frame was not passed (no frame information at the leaf): at least the leaf is
    // known.
    addresses[0] = leaf;
    walk.depth = 1;
  }
  return {.depth = walk.depth, .truncated = walk.truncated};
}

__attribute__((noinline)) StackWalk WalkOwnStack(uintptr_t* addresses) {
  Walk walk{.addresses = addresses, .depth = 0, .truncated = false, .wait_for = 0};
  _Unwind_Backtrace(OnFrame, &walk);
  // The first frame is this function.
  if (walk.depth > 0) {
    --walk.depth;
    for (int i = 0; i < walk.depth; ++i) addresses[i] = addresses[i + 1];
  }
  return {.depth = walk.depth, .truncated = walk.truncated};
}

}  // namespace blockreplay::profiling
