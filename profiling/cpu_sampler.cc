#include "profiling/cpu_sampler.h"

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "profiling/stack_walk.h"
#include "profiling/thread_clock.h"
#include "profiling/thread_list.h"

namespace blockreplay::profiling {
namespace {

constexpr int kCpuSignal = SIGPROF;
// SIGURG: ignored by default, hence harmless should one arrive late, and used by nobody here. Go
// preempts with it for the same reasons.
constexpr int kWallSignal = SIGURG;

constexpr int64_t kCollectNanos = 100'000'000;

pid_t CurrentTid() { return static_cast<pid_t>(syscall(SYS_gettid)); }

timespec ToTimespec(int64_t nanos) {
  timespec time{};
  time.tv_sec = nanos / 1'000'000'000;
  time.tv_nsec = nanos % 1'000'000'000;
  return time;
}

template <typename T>
void AddRelaxed(std::atomic<T>& counter, T amount) {
  // One writer at a time: no need for a locked instruction.
  counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
}

}  // namespace

ThreadSampler& ThreadSampler::Get() {
  static auto* sampler = new ThreadSampler;
  return *sampler;
}

// ---- In signal handlers: no locks, no allocation, no errno, only atomics and the thread's own
// ring. ----

void ThreadSampler::OnSignal(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  ThreadSampler& sampler = Get();
  const bool from_us = signal == kCpuSignal ? info->si_code == SI_TIMER : info->si_code == SI_QUEUE;
  const int index = info->si_value.sival_int;
  if (from_us && sampler.armed_.load(std::memory_order_acquire) && index >= 0 &&
      index < sampler.slots_used_.load(std::memory_order_acquire)) {
    Slot& slot = *sampler.slots_[static_cast<size_t>(index)].load(std::memory_order_acquire);
    // Order matters, see RemoveThreadLocked. The check keeps a signal that was under way when its
    // slot went to another thread from writing into that one's ring.
    slot.in_handler.store(true, std::memory_order_seq_cst);
    if (slot.tid.load(std::memory_order_seq_cst) == CurrentTid()) {
      if (signal == kCpuSignal) {
        const auto count = 1 + static_cast<uint32_t>(std::max(info->si_overrun, 0));
        const int64_t period = sampler.cpu_period_nanos_.load(std::memory_order_relaxed);
        sampler.TakeSample(slot, SampleSource::kCpu, count, int64_t{count} * period, context);
      } else {
        slot.wall_pending.store(false, std::memory_order_relaxed);
        const uint32_t count = slot.wall_owed_count.exchange(0, std::memory_order_relaxed);
        const int64_t nanos = slot.wall_owed_nanos.exchange(0, std::memory_order_relaxed);
        if (count > 0) sampler.TakeSample(slot, SampleSource::kWall, count, nanos, context);
      }
    }
    slot.in_handler.store(false, std::memory_order_release);
  }
  errno = saved_errno;
}

void ThreadSampler::TakeSample(Slot& slot, SampleSource source, uint32_t count, int64_t nanos,
                               const void* context) {
  const int64_t start = MonotonicNanos();
  uintptr_t stack[kMaxStackDepth];
  const StackWalk walk = WalkInterruptedStack(context, stack);
  const SampleHead head{
      .source = source, .count = count, .nanos = nanos, .labels = CurrentLabels()};
  if (!slot.ring.Push(head, {stack, static_cast<size_t>(walk.depth)})) {
    AddRelaxed<uint64_t>(slot.lost, count);
  }
  if (walk.truncated) AddRelaxed<uint64_t>(slot.truncated, 1);
  AddRelaxed<uint64_t>(source == SampleSource::kCpu ? slot.cpu_samples : slot.wall_samples, 1);
  AddRelaxed<int64_t>(slot.handler_nanos, MonotonicNanos() - start);
}

// ---- Outside of signal handlers. ----

absl::Status ThreadSampler::Start(const Options& options) {
  std::lock_guard lock(mutex_);
  if (running_) return absl::FailedPreconditionError("threads are being sampled already");
  PrepareStackWalks();

  struct sigaction action{};
  action.sa_sigaction = OnSignal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigemptyset(&action.sa_mask);
  // One writer per ring.
  sigaddset(&action.sa_mask, kCpuSignal);
  sigaddset(&action.sa_mask, kWallSignal);
  for (const auto& [signal, wanted] : {std::pair{kCpuSignal, options.cpu_period_nanos > 0},
                                       std::pair{kWallSignal, options.wall_period_nanos > 0}}) {
    // What we don't use may be somebody else's: gperftools' profiler lives by SIGPROF too.
    if (wanted && sigaction(signal, &action, nullptr) != 0) {
      return absl::InternalError(
          absl::StrCat("cannot handle signal ", signal, ": ", std::strerror(errno)));
    }
  }

  options_ = options;
  random_.seed(std::random_device()());
  sampled_cpu_nanos_ = 0;
  threads_without_slot_ = 0;
  collector_cpu_nanos_ = 0;
  const int used = slots_used_.load();
  for (int i = 0; i < used; ++i) {
    Slot& slot = *slots_[static_cast<size_t>(i)].load();
    slot.lost = 0;
    slot.cpu_samples = 0;
    slot.wall_samples = 0;
    slot.truncated = 0;
    slot.handler_nanos = 0;
  }
  cpu_period_nanos_ = options.cpu_period_nanos;
  running_ = true;
  stop_requested_ = false;
  armed_.store(true, std::memory_order_release);
  RefreshLocked(/*starting=*/true);
  if (options.cpu_period_nanos > 0) {
    const auto main_thread = slot_of_thread_.find(CurrentTid());
    if (main_thread == slot_of_thread_.end() ||
        !slots_[static_cast<size_t>(main_thread->second)].load()->has_timer) {
      armed_ = false;
      running_ = false;
      std::vector<int> indices;
      for (const auto& [tid, index] : slot_of_thread_) indices.push_back(index);
      for (const int index : indices) RemoveThreadLocked(index);
      return absl::UnavailableError(
          "no timer on the calling thread's CPU clock: is /proc mounted, and are signals left "
          "within `ulimit -i`?");
    }
  }
  collector_ = std::thread([this] { Collect(); });
  return absl::OkStatus();
}

void ThreadSampler::Stop() {
  std::thread collector;
  {
    std::lock_guard lock(mutex_);
    if (!running_) return;
    running_ = false;
    stop_requested_ = true;
    // First the flag, then the timers: signals under way find it.
    armed_.store(false, std::memory_order_release);
    std::vector<int> indices;
    for (const auto& [tid, index] : slot_of_thread_) indices.push_back(index);
    for (const int index : indices) RemoveThreadLocked(index);
    options_.cpu_store = options_.wall_store = nullptr;  // their owner may go now
    collector = std::move(collector_);
  }
  stop_condition_.notify_all();
  collector.join();
  // The handlers stay installed: the default action of a late SIGPROF would end the process.
}

void ThreadSampler::Collect() {
  SetThreadRole("profiler");
  const int64_t step = options_.wall_period_nanos > 0
                           ? std::min(options_.wall_period_nanos, kCollectNanos)
                           : kCollectNanos;
  int64_t last_signals = MonotonicNanos();
  int64_t last_drain = last_signals;
  std::unique_lock lock(mutex_);
  while (!stop_requested_) {
    stop_condition_.wait_for(lock, std::chrono::nanoseconds(step));
    if (stop_requested_) break;
    const int64_t now = MonotonicNanos();
    if (options_.wall_period_nanos > 0 && now - last_signals >= options_.wall_period_nanos / 2) {
      SignalAllLocked(now - last_signals);
      last_signals = now;
    }
    if (now - last_drain >= kCollectNanos) {
      RefreshLocked(/*starting=*/false);
      DrainLocked();
      last_drain = now;
    }
    collector_cpu_nanos_.store(ThreadCpuNanos(), std::memory_order_relaxed);
  }
  collector_cpu_nanos_.store(ThreadCpuNanos(), std::memory_order_relaxed);
}

void ThreadSampler::Refresh() {
  std::lock_guard lock(mutex_);
  if (running_) RefreshLocked(/*starting=*/false);
}

void ThreadSampler::RegisterCurrentThread() {
  std::lock_guard lock(mutex_);
  if (!running_) return;
  if (!slot_of_thread_.contains(CurrentTid())) AddThreadLocked(CurrentTid(), /*starting=*/false);
}

void ThreadSampler::RefreshLocked(bool starting) {
  const std::vector<pid_t> tids = ListThreads();
  if (tids.empty()) return;
  for (const pid_t tid : tids) {
    const auto it = slot_of_thread_.find(tid);
    if (it == slot_of_thread_.end()) {
      AddThreadLocked(tid, starting);
      continue;
    }
    // Threads are named after they have started: look again a few times.
    Slot& slot = *slots_[static_cast<size_t>(it->second)].load();
    constexpr int kRoleChecks = 5;
    if (slot.role_checks < kRoleChecks) {
      ++slot.role_checks;
      slot.role = InternLabel(ThreadRoleOf(ThreadName(tid), tid == getpid()));
    }
  }
  std::vector<int> ended;
  for (const auto& [tid, index] : slot_of_thread_) {
    if (std::find(tids.begin(), tids.end(), tid) == tids.end()) ended.push_back(index);
  }
  for (const int index : ended) RemoveThreadLocked(index);
}

void ThreadSampler::AddThreadLocked(pid_t tid, bool starting) {
  int index = 0;
  const int used = slots_used_.load();
  while (index < used && slots_[static_cast<size_t>(index)].load()->tid.load() != 0) ++index;
  if (index == kMaxThreads) {
    ++threads_without_slot_;
    return;
  }
  if (index == used) {
    slots_[static_cast<size_t>(index)].store(new Slot, std::memory_order_release);
    slots_used_.store(index + 1, std::memory_order_release);
  }
  Slot& slot = *slots_[static_cast<size_t>(index)].load();
  slot.role = InternLabel(ThreadRoleOf(ThreadName(tid), tid == getpid()));
  slot.role_checks = 0;
  slot.wall_pending = false;
  slot.wall_owed_count = 0;
  slot.wall_owed_nanos = 0;
  slot.has_timer = false;
  slot.tid.store(tid, std::memory_order_release);
  slot_of_thread_[tid] = index;

  if (options_.cpu_period_nanos == 0) return;
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = kCpuSignal;
  event.sigev_value.sival_int = index;
  event._sigev_un._tid = tid;
  // Fails if the thread has ended meanwhile: the next refresh removes the slot.
  if (timer_create(ThreadCpuClock(tid), &event, &slot.timer) != 0) return;
  // A random first offset: threads that work in step must not be sampled at the same points of
  // their work, and what a thread has used of its last period when it ends is then right on
  // average.
  std::uniform_int_distribution<int64_t> offset(1, options_.cpu_period_nanos);
  itimerspec spec{};
  spec.it_value = ToTimespec(offset(random_));
  spec.it_interval = ToTimespec(options_.cpu_period_nanos);
  // Threads that are there at the start count from now on; others from their birth, an absolute
  // time of their clock.
  if (timer_settime(slot.timer, starting ? 0 : TIMER_ABSTIME, &spec, nullptr) != 0) {
    timer_delete(slot.timer);
    return;
  }
  slot.has_timer = true;
}

void ThreadSampler::RemoveThreadLocked(int index) {
  Slot& slot = *slots_[static_cast<size_t>(index)].load();
  if (slot.has_timer) timer_delete(slot.timer);
  slot.has_timer = false;
  slot_of_thread_.erase(slot.tid.load());
  // Either a handler sees that the slot is no longer its thread's, or we see the handler and let it
  // finish, which is a matter of microseconds: it waits for nothing.
  slot.tid.store(0, std::memory_order_seq_cst);
  while (slot.in_handler.load(std::memory_order_seq_cst)) sched_yield();
  DrainSlotLocked(slot);
}

void ThreadSampler::SignalAllLocked(int64_t elapsed_nanos) {
  const pid_t process = getpid();
  const pid_t self = CurrentTid();
  for (const auto& [tid, index] : slot_of_thread_) {
    if (tid == self) continue;
    Slot& slot = *slots_[static_cast<size_t>(index)].load();
    slot.wall_owed_count.fetch_add(1, std::memory_order_relaxed);
    slot.wall_owed_nanos.fetch_add(elapsed_nanos, std::memory_order_relaxed);
    if (slot.wall_pending.exchange(true, std::memory_order_relaxed)) continue;
    siginfo_t info{};
    info.si_signo = kWallSignal;
    info.si_code = SI_QUEUE;
    info.si_pid = process;
    info.si_uid = getuid();
    info.si_value.sival_int = index;
    if (syscall(SYS_rt_tgsigqueueinfo, process, tid, kWallSignal, &info) != 0) {
      slot.wall_pending.store(false, std::memory_order_relaxed);
    }
  }
}

void ThreadSampler::Drain() {
  std::lock_guard lock(mutex_);
  DrainLocked();
}

void ThreadSampler::DrainLocked() {
  for (const auto& [tid, index] : slot_of_thread_) {
    DrainSlotLocked(*slots_[static_cast<size_t>(index)].load());
  }
}

void ThreadSampler::DrainSlotLocked(Slot& slot) {
  SampleHead head;
  uintptr_t stack[kMaxStackDepth];
  size_t depth = 0;
  while (slot.ring.Pop(&head, stack, &depth)) {
    LabelId& role = head.labels.ids[static_cast<int>(LabelKey::kThreadRole)];
    if (role == kNoLabel) role = slot.role;
    SampleStore* store = options_.wall_store;
    if (head.source == SampleSource::kCpu) {
      store = options_.cpu_store;
      sampled_cpu_nanos_ += head.nanos;
    }
    if (store == nullptr) continue;
    store->Add(store->Intern({stack, depth}, head.labels), head.count,
               static_cast<double>(head.nanos));
  }
}

ThreadSampler::Stats ThreadSampler::stats() const {
  std::lock_guard lock(mutex_);
  Stats stats;
  const int used = slots_used_.load();
  for (int i = 0; i < used; ++i) {
    const Slot& slot = *slots_[static_cast<size_t>(i)].load();
    stats.cpu_samples += slot.cpu_samples.load(std::memory_order_relaxed);
    stats.wall_samples += slot.wall_samples.load(std::memory_order_relaxed);
    stats.lost_samples += slot.lost.load(std::memory_order_relaxed);
    stats.truncated_stacks += slot.truncated.load(std::memory_order_relaxed);
    stats.handler_nanos += slot.handler_nanos.load(std::memory_order_relaxed);
  }
  stats.lost_samples += threads_without_slot_;
  stats.cpu_nanos = sampled_cpu_nanos_;
  stats.collector_cpu_nanos = collector_cpu_nanos_.load(std::memory_order_relaxed);
  return stats;
}

}  // namespace blockreplay::profiling
