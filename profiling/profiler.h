#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "perftools/profiles/profile.pb.h"

namespace blockreplay::profiling {

// Captures CPU, wall-clock and heap profiles of this process, with the labels of labels.h, and
// writes them as gzipped pprof files that need no binary to be read.
//
//   ProfilerOptions options;
//   options.cpu = options.heap = true;
//   auto profiler = Profiler::Start(options);
//   …work; at block boundaries possibly TakeMark / Write…
//   profiler->Stop();
//   profiler->Write(ProfileKind::kCpu, {.path = "cpu.pb.gz", .comments = {"recording …"}});
//
// Nothing is ever written from a signal handler or at exit: on SIGINT, SIGTERM or a mismatch the
// caller leaves its loop, stops the profiler and writes as usual.

enum class CpuBackend {
  // A CPU-time timer per thread: labels, right totals on any number of cores (cpu_sampler.h).
  kThreadTimers,
  // gperftools' process-wide timer: no labels, no marks, whole runs only and only once stopped.
  kGperftools,
};

struct ProfilerOptions {
  bool cpu = false;
  bool wall = false;
  bool heap = false;

  CpuBackend cpu_backend = CpuBackend::kThreadTimers;

  // Samples per second of CPU time of each thread, 1 to 1000. Kernels look at CPU timers once per
  // tick (250 Hz on most), so a higher value gives no more samples, but still right totals: each
  // sample counts for the periods it stands for.
  int cpu_hz = 100;

  // Samples per second of wall time of each thread, 1 to 1000. Each one interrupts the thread, also
  // in sleeping system calls; those that SA_RESTART doesn't restart (poll, epoll_wait, nanosleep)
  // return EINTR to their caller.
  int wall_hz = 50;

  // One allocation is sampled per this many allocated bytes, on average. Go's runtime and tcmalloc
  // use 512 KiB.
  int64_t heap_sample_bytes = 512 * 1024;

  // Whole-run profiles carry heights rounded down to a multiple of this; 0: no height label.
  int64_t height_bucket = 100;
};

enum class ProfileKind {
  kCpu,   // samples/count, cpu/nanoseconds
  kWall,  // samples/count, wall/nanoseconds
  kHeap,  // alloc_objects/count, alloc_space/bytes, inuse_objects/count, inuse_space/bytes
};

class Profiler;

// A point in time between samples. While a mark lives, samples taken after it are kept one by one
// (about 40 bytes each), so hold it only as long as it may be needed. Movable, empty when
// default-constructed or moved from. Must not outlive its profiler.
class ProfileMark {
 public:
  ProfileMark() = default;
  ProfileMark(ProfileMark&& other) noexcept;
  ProfileMark& operator=(ProfileMark&& other) noexcept;
  ~ProfileMark();

  bool empty() const { return profiler_ == nullptr; }

 private:
  friend class Profiler;
  Profiler* profiler_ = nullptr;
  uint64_t cpu_ = 0;
  uint64_t wall_ = 0;
  uint64_t heap_ = 0;
  int64_t time_nanos_ = 0;       // CLOCK_REALTIME
  int64_t monotonic_nanos_ = 0;  // CLOCK_MONOTONIC
};

// What to put into a profile, and where.
struct ProfileRequest {
  std::string path = {};  // for Write only

  // Shown by pprof with the profile's header: recording digest, range, revision, command line, …
  std::vector<std::string> comments = {};

  // Samples in [since, until) only; null: from the start, to now. For the heap this bounds the
  // allocation totals; memory in use is always what is in use now. Both must come from the same
  // profiler.
  const ProfileMark* since = nullptr;
  const ProfileMark* until = nullptr;

  // Bucket of the height label between marks: 1 gives exact heights, 0 none. Whole-run profiles use
  // the one that the profiler was started with.
  int64_t height_bucket = 1;
};

// What profiling itself did and cost.
struct ProfilerStats {
  uint64_t cpu_samples = 0;   // signals handled
  uint64_t wall_samples = 0;  //
  uint64_t heap_samples = 0;  // allocations sampled
  uint64_t lost_samples =
      0;  // ring full, or stack not takeable; their time is missing in the profile
  uint64_t truncated_stacks = 0;    // deeper than the sampler follows
  int64_t sampled_cpu_nanos = 0;    // CPU time that the samples stand for
  int64_t process_cpu_nanos = 0;    // CPU time of the process since Start, from getrusage
  int64_t handler_nanos = 0;        // wall time spent in signal handlers
  int64_t collector_cpu_nanos = 0;  // CPU time of the profiler's own threads
};

// At most one of CPU or wall time and one of the heap at a time: a heap profiler may run all along
// while CPU profilers come and go beside it. All methods may be called from any thread, Stop and
// the destructor from one.
class Profiler {
 public:
  // Starts sampling. FailedPrecondition: another profiler has what this one needs. Unavailable:
  // heap asked for in a program without tcmalloc (sanitizer builds). InvalidArgument: an option out
  // of range.
  static absl::StatusOr<std::unique_ptr<Profiler>> Start(const ProfilerOptions& options);

  // Whether Start with `heap` can succeed in this program.
  static bool HeapProfilingAvailable();

  virtual ~Profiler() = default;

  // Finds threads that have started since the last look. They are looked for every 100 ms anyway;
  // after starting threads (opening a database; from RocksDB's OnCompactionBegin and OnFlushBegin)
  // a call closes that gap. About 20 µs.
  virtual void RefreshThreads() = 0;

  // Remembers this moment, for profiles of what follows or went before. A few microseconds.
  virtual ProfileMark TakeMark() = 0;

  // Stops sampling; profiles can still be made. Idempotent.
  virtual void Stop() = 0;

  // Makes a symbolised profile; InvalidArgument if `kind` isn't captured by this profiler. May take
  // seconds (reads debug information); sampling goes on meanwhile, the work itself carries the
  // label phase=profile.
  virtual absl::StatusOr<perftools::profiles::Profile> Collect(ProfileKind kind,
                                                               const ProfileRequest& request) = 0;

  // Collect, then write to `request.path` under a temporary name beside it, sync and rename. An
  // existing file is replaced, or left as it was on error.
  absl::Status Write(ProfileKind kind, const ProfileRequest& request);

  virtual ProfilerStats Stats() const = 0;

 protected:
  Profiler() = default;

  friend class ProfileMark;
  virtual void ReleaseMark(const ProfileMark& mark) = 0;
  static ProfileMark MakeMark(Profiler* profiler, uint64_t cpu, uint64_t wall, uint64_t heap);
  static uint64_t MarkPosition(const ProfileMark& mark, ProfileKind kind);
  static Profiler* MarkOwner(const ProfileMark& mark) { return mark.profiler_; }
  static int64_t MarkTime(const ProfileMark& mark) { return mark.time_nanos_; }
  static int64_t MarkMonotonic(const ProfileMark& mark) { return mark.monotonic_nanos_; }
};

// Calls RefreshThreads of the running profiler, if any: for code that has no profiler at hand, such
// as listeners.
void RefreshProfiledThreads();

}  // namespace blockreplay::profiling
