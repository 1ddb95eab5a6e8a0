#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "profiling/thread_clock.h"

namespace blockreplay::replay {

// What the thread that drives the replay is doing. The order is that of report.json.
enum class Phase : size_t {
  kDecode,  // waiting for the next decoded block; decoding itself runs on a thread of its own
  kApply,   // recorded writes into the branches and from there into the trees
  kBeginBlock,
  kDeliverTx,
  kEndBlock,
  kHash,
  kCommit,   // handing the version over, and waiting for the database where it lags behind
  kCheckTx,  // rechecking a mempool; replays have none
  kOther,    // comparing, counting, reporting: what belongs to none of the above
};
inline constexpr size_t kPhaseCount = 9;
inline constexpr std::array<const char*, kPhaseCount> kPhaseNames = {
    "decode", "apply",  "begin_block", "deliver_tx", "end_block",
    "hash",   "commit", "check_tx",    "other"};

using PhaseNanos = std::array<int64_t, kPhaseCount>;

// Divides one thread's wall and CPU time among phases without a gap: it is always in exactly one.
// Not thread-safe, and to be used by the thread that it measures.
class PhaseClock {
 public:
  PhaseClock() { Restart(); }

  // Zeroes everything and starts in kOther.
  void Restart() {
    wall_ = {};
    cpu_ = {};
    phase_ = Phase::kOther;
    cpu_since_ = profiling::ThreadCpuNanos();
    wall_since_ = profiling::MonotonicNanos();
  }
  void Enter(Phase phase) {
    Settle();
    phase_ = phase;
  }
  // Books the time of the present phase up to now.
  void Settle() {
    // The CPU clock first: asking for it enters the kernel, which on the way back lets threads run
    // that the ending phase has woken. That wait is the ending phase's.
    const int64_t cpu = profiling::ThreadCpuNanos();
    const int64_t wall = profiling::MonotonicNanos();
    wall_[static_cast<size_t>(phase_)] += wall - wall_since_;
    cpu_[static_cast<size_t>(phase_)] += cpu - cpu_since_;
    wall_since_ = wall;
    cpu_since_ = cpu;
  }
  // Books the time since the last Enter, Settle or Forget for no phase.
  void Forget() {
    cpu_since_ = profiling::ThreadCpuNanos();
    wall_since_ = profiling::MonotonicNanos();
  }

  // As of the last Enter or Settle.
  const PhaseNanos& wall() const { return wall_; }
  const PhaseNanos& cpu() const { return cpu_; }

 private:
  Phase phase_ = Phase::kOther;
  PhaseNanos wall_{};
  PhaseNanos cpu_{};
  int64_t wall_since_ = 0;
  int64_t cpu_since_ = 0;
};

}  // namespace blockreplay::replay
