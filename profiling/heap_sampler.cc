#include "profiling/heap_sampler.h"

#include <gperftools/malloc_hook_c.h>
#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cmath>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "absl/container/flat_hash_map.h"
#include "profiling/stack_walk.h"
#include "profiling/thread_clock.h"
#include "profiling/thread_list.h"

// Weak: programs without tcmalloc (sanitizer builds) link all the same and have null here.
#pragma weak MallocHook_AddNewHook
#pragma weak MallocHook_RemoveNewHook
#pragma weak MallocHook_AddDeleteHook
#pragma weak MallocHook_RemoveDeleteHook

namespace blockreplay::profiling::heap_sampler {
namespace {

struct ThreadState {
  // Bytes that this thread may allocate before the next sample.
  int64_t bytes_left = 0;
  uint64_t random = 0;  // 0: not seeded
  // Set while we are at work, so that our own allocations are not sampled and don't take our lock
  // again.
  bool busy = false;
  LabelId role = kNoLabel;
  int role_checks = 0;
};

constinit thread_local ThreadState thread_state __attribute__((tls_model("initial-exec")));

struct Live {
  SampleKey key;
  double count = 0;
  double amount = 0;
};

// Leaked on purpose: a hook that was being called when it was removed may still look.
struct State {
  std::atomic<bool> running{false};
  std::atomic<int64_t> sample_bytes{0};
  std::atomic<uint64_t> samples{0};
  // Code of tcmalloc, whose frames are not the program's.
  uintptr_t allocator_start = 0;
  uintptr_t allocator_limit = 0;
  // How many sampled live addresses hash here: nearly all frees are of memory that was not sampled,
  // and see a zero.
  static constexpr size_t kFilterSize = 1 << 16;
  std::array<std::atomic<uint16_t>, kFilterSize> filter{};

  std::mutex mutex;
  SampleStore* store = nullptr;
  absl::flat_hash_map<const void*, Live> live;
};

State& GetState() {
  static auto* state = new State;
  return *state;
}

// Set before hooks are installed: hooks must not run the initialisation of a static.
std::atomic<State*> hook_state{nullptr};

size_t FilterIndex(const void* address) {
  // Allocations are aligned to 16; a multiplicative hash spreads runs of equal size.
  return static_cast<size_t>((reinterpret_cast<uintptr_t>(address) >> 4) * 0x9e3779b97f4a7c15u >>
                             48);
}

uint64_t NextRandom(uint64_t& state) {
  // xorshift64*: good enough for gaps, and two instructions more than a counter.
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return state * 0x2545f4914f6cdd1du;
}

// Exponentially distributed with the given mean: the gap between points of a Poisson process.
int64_t NextGap(ThreadState& thread, int64_t mean) {
  if (thread.random == 0) {
    const auto tid = static_cast<uint64_t>(syscall(SYS_gettid));
    thread.random = (static_cast<uint64_t>(MonotonicNanos()) ^ tid << 40) | 1;
    for (int i = 0; i < 8; ++i) NextRandom(thread.random);
  }
  const double uniform = (static_cast<double>(NextRandom(thread.random) >> 11) + 0.5) * 0x1.0p-53;
  return 1 + static_cast<int64_t>(-std::log(uniform) * static_cast<double>(mean));
}

LabelId RoleOfThread(ThreadState& thread) {
  // Threads are named after they have started: ask the kernel again for the first few samples.
  constexpr int kRoleChecks = 5;
  if (thread.role_checks < kRoleChecks) {
    ++thread.role_checks;
    const auto tid = static_cast<pid_t>(syscall(SYS_gettid));
    thread.role = InternLabel(ThreadRoleOf(ThreadName(tid), tid == getpid()));
  }
  return thread.role;
}

__attribute__((noinline)) void Sample(State& state, ThreadState& thread, const void* address,
                                      size_t size) {
  thread.busy = true;
  const int64_t mean = state.sample_bytes.load(std::memory_order_relaxed);
  const bool first = thread.random == 0;
  int64_t gap = NextGap(thread, mean);
  if (first) {
    // This thread's first allocation: its countdown starts before it.
    gap -= static_cast<int64_t>(size);
    if (gap > 0) {
      thread.bytes_left = gap;
      thread.busy = false;
      return;
    }
    gap = NextGap(thread, mean);
  }
  thread.bytes_left = gap;

  uintptr_t stack[kMaxStackDepth];
  const StackWalk walk = WalkOwnStack(stack);
  // Leaf first come our hook, then the allocator, then who called it.
  int begin = 0;
  const auto in_allocator = [&](int i) {
    return stack[i] >= state.allocator_start && stack[i] < state.allocator_limit;
  };
  constexpr int kHookFrames = 4;
  for (int i = 0; i < std::min(walk.depth, kHookFrames); ++i) {
    if (!in_allocator(i)) continue;
    begin = i;
    while (begin < walk.depth && in_allocator(begin)) ++begin;
    break;
  }

  LabelValues labels = CurrentLabels();
  LabelId& role = labels.ids[static_cast<int>(LabelKey::kThreadRole)];
  if (role == kNoLabel) role = RoleOfThread(thread);

  const double probability = -std::expm1(-static_cast<double>(size) / static_cast<double>(mean));
  const double count = 1 / probability;
  const double amount = static_cast<double>(size) / probability;
  {
    std::lock_guard lock(state.mutex);
    if (state.running.load(std::memory_order_relaxed)) {
      const SampleKey key =
          state.store->Intern({stack + begin, static_cast<size_t>(walk.depth - begin)}, labels);
      state.store->Add(key, count, amount);
      const auto [it, inserted] = state.live.try_emplace(address);
      it->second = {.key = key, .count = count, .amount = amount};
      if (inserted) state.filter[FilterIndex(address)].fetch_add(1, std::memory_order_relaxed);
      state.samples.fetch_add(1, std::memory_order_relaxed);
    }
  }
  thread.busy = false;
}

void OnNew(const void* address, size_t size) {
  ThreadState& thread = thread_state;
  if (address == nullptr || thread.busy) return;
  thread.bytes_left -= static_cast<int64_t>(size);
  if (__builtin_expect(thread.bytes_left > 0, 1)) return;
  if (size == 0) return;
  State* state = hook_state.load(std::memory_order_acquire);
  Sample(*state, thread, address, size);
}

void OnDelete(const void* address) {
  State* state = hook_state.load(std::memory_order_acquire);
  if (__builtin_expect(state->filter[FilterIndex(address)].load(std::memory_order_relaxed) == 0,
                       1)) {
    return;
  }
  ThreadState& thread = thread_state;
  if (thread.busy) return;
  thread.busy = true;
  {
    std::lock_guard lock(state->mutex);
    if (state->running.load(std::memory_order_relaxed) && state->live.erase(address) > 0) {
      state->filter[FilterIndex(address)].fetch_sub(1, std::memory_order_relaxed);
    }
  }
  thread.busy = false;
}

// Finds where the allocator's code is.
int FindAllocator(dl_phdr_info* info, size_t, void* argument) {
  auto& state = *static_cast<State*>(argument);
  const auto hook = reinterpret_cast<uintptr_t>(&MallocHook_AddNewHook);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
    const uintptr_t start = info->dlpi_addr + header.p_vaddr;
    if (hook >= start && hook < start + header.p_memsz) {
      state.allocator_start = start;
      state.allocator_limit = start + header.p_memsz;
      return 1;
    }
  }
  return 0;
}

}  // namespace

ScopedPause::ScopedPause() : previous_(thread_state.busy) { thread_state.busy = true; }
ScopedPause::~ScopedPause() { thread_state.busy = previous_; }

bool Available() {
  return MallocHook_AddNewHook != nullptr && MallocHook_AddDeleteHook != nullptr &&
         MallocHook_RemoveNewHook != nullptr && MallocHook_RemoveDeleteHook != nullptr;
}

absl::Status Start(SampleStore* allocations, int64_t sample_bytes) {
  if (!Available()) {
    return absl::UnavailableError(
        "heap profiles need tcmalloc, which this program is built without (sanitizer builds are)");
  }
  State& state = GetState();
  if (state.running) return absl::FailedPreconditionError("the heap is being sampled already");
  PrepareStackWalks();
  dl_iterate_phdr(FindAllocator, &state);
  {
    std::lock_guard lock(state.mutex);
    state.store = allocations;
    state.sample_bytes = sample_bytes;
    state.samples = 0;
    state.live.clear();
    for (auto& count : state.filter) count = 0;
    state.running = true;
  }
  hook_state = &state;
  if (MallocHook_AddNewHook(OnNew) == 0 || MallocHook_AddDeleteHook(OnDelete) == 0) {
    Stop();
    return absl::UnavailableError(
        "tcmalloc has no room for our hooks: is its own heap profiler on?");
  }
  return absl::OkStatus();
}

void Stop() {
  State& state = GetState();
  if (!state.running) return;
  MallocHook_RemoveNewHook(OnNew);
  MallocHook_RemoveDeleteHook(OnDelete);
  thread_state.busy = true;
  {
    std::lock_guard lock(state.mutex);
    state.running = false;
  }
  thread_state.busy = false;
}

std::vector<SampleSum> InUse() {
  State& state = GetState();
  std::vector<SampleSum> sums;
  absl::flat_hash_map<SampleKey, size_t> index;
  thread_state.busy = true;
  {
    std::lock_guard lock(state.mutex);
    for (const auto& [address, live] : state.live) {
      const auto [it, inserted] = index.try_emplace(live.key, sums.size());
      if (inserted) {
        sums.push_back(state.store->Resolve(live.key, state.store->height_bucket()));
      }
      sums[it->second].count += live.count;
      sums[it->second].amount += live.amount;
    }
  }
  thread_state.busy = false;
  return sums;
}

uint64_t SampleCount() { return GetState().samples.load(std::memory_order_relaxed); }

}  // namespace blockreplay::profiling::heap_sampler
