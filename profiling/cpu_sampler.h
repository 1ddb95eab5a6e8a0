#pragma once

#include <signal.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <ctime>
#include <memory>
#include <mutex>
#include <random>
#include <thread>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "profiling/labels.h"
#include "profiling/sample_ring.h"
#include "profiling/sample_store.h"

namespace blockreplay::profiling {

// Samples every thread of this process by signal: per CPU time it uses, through a timer of its own
// on its CPU clock (SIGPROF), and per wall time, blocked or not, through signals that a thread of
// ours sends round (kWallSignal).
//
// Why not setitimer: it is one timer and one pending signal for the whole process, so that with
// several busy threads ticks get lost and land on the wrong thread. A timer per thread gives each
// its own, and what the kernel merged is in the overrun count, by which each sample is weighted:
// totals are right even if the period is shorter than a tick.
//
// Threads are found under /proc/self/task every 100 ms, by Refresh, and by registering themselves.
// A thread found late loses nothing: its first timer is set for an absolute time of its CPU clock,
// so that it fires at once, with the periods missed so far as overruns.
class ThreadSampler {
 public:
  struct Options {
    // 0: not sampled.
    int64_t cpu_period_nanos = 0;
    int64_t wall_period_nanos = 0;
    // Where samples go; must live until Stop. Null where not sampled.
    SampleStore* cpu_store = nullptr;
    SampleStore* wall_store = nullptr;
  };

  struct Stats {
    uint64_t cpu_samples = 0;
    uint64_t wall_samples = 0;
    uint64_t lost_samples = 0;
    uint64_t truncated_stacks = 0;
    int64_t cpu_nanos = 0;
    int64_t handler_nanos = 0;
    int64_t collector_cpu_nanos = 0;
  };

  // There is one per process, because signals are the process's. Never destroyed: a late signal may
  // still come in.
  static ThreadSampler& Get();

  absl::Status Start(const Options& options);
  // Takes what is left in the rings along. Idempotent.
  void Stop();

  // Looks for new and ended threads. Does nothing if not running.
  void Refresh();
  // Makes the calling thread known at once. Does nothing if not running.
  void RegisterCurrentThread();
  // Moves all samples taken so far into the stores.
  void Drain();

  Stats stats() const;

 private:
  // A thread being sampled. Slots are reused but never freed: a handler may hold one at any time.
  struct Slot {
    std::atomic<pid_t> tid{0};  // 0: free
    std::atomic<bool> in_handler{false};
    std::atomic<uint64_t> lost{0};
    std::atomic<uint64_t> cpu_samples{0};
    std::atomic<uint64_t> wall_samples{0};
    std::atomic<uint64_t> truncated{0};
    std::atomic<int64_t> handler_nanos{0};
    // Wall time since the last wall sample of this thread, in periods and nanoseconds, and whether
    // a signal is under way: a thread in uninterruptible sleep answers late, once, for all of it.
    std::atomic<uint32_t> wall_owed_count{0};
    std::atomic<int64_t> wall_owed_nanos{0};
    std::atomic<bool> wall_pending{false};
    SampleRing ring;
    // Below: only under mutex_.
    LabelId role = kNoLabel;  // for samples whose thread has none of its own
    int role_checks = 0;
    bool has_timer = false;
    timer_t timer{};
  };

  static constexpr int kMaxThreads = 1024;

  ThreadSampler() = default;

  static void OnSignal(int signal, siginfo_t* info, void* context);
  void TakeSample(Slot& slot, SampleSource source, uint32_t count, int64_t nanos,
                  const void* context);

  void RefreshLocked(bool starting);
  void AddThreadLocked(pid_t tid, bool starting);
  void RemoveThreadLocked(int index);
  void DrainLocked();
  void DrainSlotLocked(Slot& slot);
  void SignalAllLocked(int64_t elapsed_nanos);
  void Collect();

  // What handlers read.
  std::atomic<bool> armed_{false};
  std::atomic<int64_t> cpu_period_nanos_{0};
  std::array<std::atomic<Slot*>, kMaxThreads> slots_{};
  std::atomic<int> slots_used_{0};

  mutable std::mutex mutex_;
  bool running_ = false;
  Options options_;
  absl::flat_hash_map<pid_t, int> slot_of_thread_;
  std::minstd_rand random_;
  int64_t sampled_cpu_nanos_ = 0;
  uint64_t threads_without_slot_ = 0;
  std::atomic<int64_t> collector_cpu_nanos_{0};
  bool stop_requested_ = false;
  std::condition_variable stop_condition_;
  std::thread collector_;
};

}  // namespace blockreplay::profiling
