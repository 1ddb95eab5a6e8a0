#include "profiling/profiler.h"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "profiling/cpu_sampler.h"
#include "profiling/gperftools_profile.h"
#include "profiling/heap_sampler.h"
#include "profiling/labels.h"
#include "profiling/process_stats.h"
#include "profiling/profile_builder.h"
#include "profiling/profile_file.h"
#include "profiling/sample_store.h"
#include "profiling/symbolizer.h"
#include "profiling/thread_clock.h"

namespace blockreplay::profiling {
namespace {

using perftools::profiles::Profile;

constexpr int64_t kSecond = 1'000'000'000;
constexpr int kMaxHz = 1000;

// Frames of the allocator that the sampler could not cut off by their addresses: replacements in
// our own binary.
constexpr std::string_view kAllocatorFrames =
    R"((operator new|operator new\[\]|operator delete|operator delete\[\]|malloc|calloc|realloc|)"
    R"(memalign|aligned_alloc|posix_memalign|valloc|pvalloc|tc_.*))";

int64_t WallNanos() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * kSecond + now.tv_nsec;
}

absl::Status CheckOptions(const ProfilerOptions& options) {
  if (options.cpu && (options.cpu_hz < 1 || options.cpu_hz > kMaxHz)) {
    return absl::InvalidArgumentError(absl::StrCat("CPU samples per second must be between 1 and ",
                                                   kMaxHz, ", not ", options.cpu_hz));
  }
  if (options.wall && (options.wall_hz < 1 || options.wall_hz > kMaxHz)) {
    return absl::InvalidArgumentError(absl::StrCat("wall samples per second must be between 1 and ",
                                                   kMaxHz, ", not ", options.wall_hz));
  }
  if (options.heap && options.heap_sample_bytes < 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "bytes between heap samples must be positive, not ", options.heap_sample_bytes));
  }
  if (options.height_bucket < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the height bucket must not be negative: ", options.height_bucket));
  }
  return absl::OkStatus();
}

// What can be had by one profiler at a time: signals and timers for threads, and the allocator's
// hooks.
std::atomic<bool> threads_taken{false};
std::atomic<bool> heap_taken{false};

class SamplingProfiler final : public Profiler {
 public:
  explicit SamplingProfiler(const ProfilerOptions& options)
      : options_(options),
        cpu_(options.height_bucket),
        wall_(options.height_bucket),
        heap_(options.height_bucket),
        cpu_period_nanos_(kSecond / std::max(options.cpu_hz, 1)) {}

  ~SamplingProfiler() override {
    Stop();
    if (has_heap_) heap_taken = false;
    if (has_threads_) threads_taken = false;
  }

  absl::Status Begin() {
    if (options_.cpu || options_.wall) {
      if (threads_taken.exchange(true)) {
        return absl::FailedPreconditionError(
            "a profiler of CPU or wall time runs already; there can be one per process");
      }
      has_threads_ = true;
    }
    if (options_.heap) {
      if (heap_taken.exchange(true)) {
        return absl::FailedPreconditionError(
            "a heap profiler runs already; there can be one per process");
      }
      has_heap_ = true;
    }
    start_wall_ = WallNanos();
    start_monotonic_ = MonotonicNanos();
    if (options_.heap) {
      absl::Status status = heap_sampler::Start(&heap_, options_.heap_sample_bytes);
      if (!status.ok()) return status;
      heap_runs_ = true;
    }
    start_cpu_ = GetProcessUsage().cpu_nanos();
    if (UsesGperftools()) {
      absl::Status status = gperftools_.Start(options_.cpu_hz);
      if (!status.ok()) return status;
      gperftools_runs_ = true;
    }
    if ((options_.cpu && !UsesGperftools()) || options_.wall) {
      ThreadSampler::Options sampler;
      if (options_.cpu && !UsesGperftools()) {
        sampler.cpu_period_nanos = kSecond / options_.cpu_hz;
        sampler.cpu_store = &cpu_;
      }
      if (options_.wall) {
        sampler.wall_period_nanos = kSecond / options_.wall_hz;
        sampler.wall_store = &wall_;
      }
      absl::Status status = ThreadSampler::Get().Start(sampler);
      if (!status.ok()) return status;
      threads_run_ = true;
    }
    return absl::OkStatus();
  }

  void RefreshThreads() override {
    if (has_threads_) ThreadSampler::Get().Refresh();
  }

  ProfileMark TakeMark() override {
    if (has_threads_) ThreadSampler::Get().Drain();
    return MakeMark(this, cpu_.Mark(), wall_.Mark(), heap_.Mark());
  }

  void Stop() override {
    if (threads_run_) {
      ThreadSampler::Get().Stop();
    }
    if (gperftools_runs_) {
      StopGperftools();
    }
    if (heap_runs_) heap_sampler::Stop();
    if (stop_monotonic_ == 0) {
      stop_cpu_ = GetProcessUsage().cpu_nanos();
      stop_monotonic_ = MonotonicNanos();
    }
    threads_run_ = heap_runs_ = false;
    gperftools_runs_ = false;
  }

  absl::StatusOr<Profile> Collect(ProfileKind kind, const ProfileRequest& request) override {
    const bool captured = kind == ProfileKind::kCpu    ? options_.cpu
                          : kind == ProfileKind::kWall ? options_.wall
                                                       : options_.heap;
    if (!captured) {
      return absl::InvalidArgumentError("this kind of profile is not being captured");
    }
    for (const ProfileMark* mark : {request.since, request.until}) {
      if (mark != nullptr && MarkOwner(*mark) != this) {
        return absl::InvalidArgumentError("the mark is empty or another profiler's");
      }
    }
    if (kind == ProfileKind::kCpu && UsesGperftools()) {
      if (request.since != nullptr || request.until != nullptr) {
        return absl::UnimplementedError(
            "gperftools' CPU profiler makes profiles of whole runs only");
      }
      if (gperftools_runs_) {
        return absl::FailedPreconditionError(
            "gperftools' CPU profiler must be stopped before its profile can be read");
      }
      if (!gperftools_status_.ok()) return gperftools_status_;
    }
    static const LabelId kProfilePhase = InternLabel("profile");
    ScopedLabel phase(LabelKey::kPhase, kProfilePhase);

    // Samples first, symbols later: reading debug information allocates a lot.
    if (has_threads_) ThreadSampler::Get().Drain();
    const SampleStore& store = kind == ProfileKind::kCpu    ? cpu_
                               : kind == ProfileKind::kWall ? wall_
                                                            : heap_;
    std::vector<SampleSum> sums;
    if (request.since == nullptr && request.until == nullptr) {
      sums = store.Total();
    } else if (request.since == nullptr) {
      return absl::InvalidArgumentError("an interval that ends at a mark must begin at one");
    } else {
      const uint64_t until =
          request.until == nullptr ? store.Position() : MarkPosition(*request.until, kind);
      sums = store.Between(MarkPosition(*request.since, kind), until, request.height_bucket);
    }
    std::vector<SampleSum> in_use;
    if (kind == ProfileKind::kHeap) in_use = heap_sampler::InUse();
    const int64_t end_monotonic = request.until != nullptr ? MarkMonotonic(*request.until)
                                  : stop_monotonic_ != 0   ? stop_monotonic_.load()
                                                           : MonotonicNanos();

    absl::StatusOr<std::unique_ptr<Symbolizer>> symbolizer = Symbolizer::ForThisProcess();
    if (!symbolizer.ok()) return symbolizer.status();
    ProfileBuilder builder = MakeBuilder(kind, symbolizer->get());
    for (const SampleSum& sum : sums) {
      if (kind == ProfileKind::kHeap) {
        builder.AddSample(sum.stack, sum.labels, {sum.count, sum.amount, 0, 0});
      } else {
        builder.AddSample(sum.stack, sum.labels, {sum.count, sum.amount});
      }
    }
    for (const SampleSum& sum : in_use) {
      builder.AddSample(sum.stack, sum.labels, {0, 0, sum.count, sum.amount});
    }
    builder.SetTime(request.since != nullptr ? MarkTime(*request.since) : start_wall_,
                    end_monotonic - (request.since != nullptr ? MarkMonotonic(*request.since)
                                                              : start_monotonic_));
    for (const std::string& comment : request.comments) builder.AddComment(comment);
    if (request.since == nullptr) builder.AddComment(Summary());
    return builder.Build();
  }

  ProfilerStats Stats() const override {
    const ThreadSampler::Stats threads =
        has_threads_ ? ThreadSampler::Get().stats() : ThreadSampler::Stats{};
    ProfilerStats stats;
    stats.cpu_samples = threads.cpu_samples;
    stats.wall_samples = threads.wall_samples;
    stats.heap_samples = options_.heap ? heap_sampler::SampleCount() : 0;
    stats.lost_samples = threads.lost_samples;
    stats.truncated_stacks = threads.truncated_stacks;
    stats.sampled_cpu_nanos = threads.cpu_nanos;
    if (UsesGperftools()) {
      stats.cpu_samples = gperftools_samples_;
      stats.sampled_cpu_nanos = gperftools_nanos_;
    }
    stats.process_cpu_nanos =
        (stop_cpu_ != 0 ? stop_cpu_.load() : GetProcessUsage().cpu_nanos()) - start_cpu_;
    stats.handler_nanos = threads.handler_nanos;
    stats.collector_cpu_nanos = threads.collector_cpu_nanos;
    return stats;
  }

 protected:
  void ReleaseMark(const ProfileMark& mark) override {
    cpu_.ReleaseMark(MarkPosition(mark, ProfileKind::kCpu));
    wall_.ReleaseMark(MarkPosition(mark, ProfileKind::kWall));
    heap_.ReleaseMark(MarkPosition(mark, ProfileKind::kHeap));
  }

 private:
  ProfileBuilder MakeBuilder(ProfileKind kind, Symbolizer* symbolizer) const {
    switch (kind) {
      case ProfileKind::kCpu:
        return ProfileBuilder(symbolizer, {{"samples", "count"}, {"cpu", "nanoseconds"}}, "cpu",
                              {"cpu", "nanoseconds"}, cpu_period_nanos_);
      case ProfileKind::kWall:
        return ProfileBuilder(symbolizer, {{"samples", "count"}, {"wall", "nanoseconds"}}, "wall",
                              {"wall", "nanoseconds"}, kSecond / options_.wall_hz);
      case ProfileKind::kHeap:
        break;
    }
    ProfileBuilder builder(symbolizer,
                           {{"alloc_objects", "count"},
                            {"alloc_space", "bytes"},
                            {"inuse_objects", "count"},
                            {"inuse_space", "bytes"}},
                           "inuse_space", {"space", "bytes"}, options_.heap_sample_bytes);
    builder.SetDropFrames(kAllocatorFrames);
    return builder;
  }

  bool UsesGperftools() const {
    return options_.cpu && options_.cpu_backend == CpuBackend::kGperftools;
  }

  void StopGperftools() {
    absl::StatusOr<GperftoolsProfile> profile = gperftools_.Stop();
    if (!profile.ok()) {
      gperftools_status_ = profile.status();
      return;
    }
    cpu_period_nanos_ = profile->period_nanos;
    for (const GperftoolsProfile::Record& record : profile->records) {
      const auto nanos = static_cast<int64_t>(record.count) * profile->period_nanos;
      cpu_.Add(cpu_.Intern(record.stack, LabelValues{}), static_cast<double>(record.count),
               static_cast<double>(nanos));
      gperftools_samples_ += record.count;
      gperftools_nanos_ += nanos;
    }
  }

  std::string Summary() const {
    const ProfilerStats stats = Stats();
    const double seconds = 1e-9;
    return absl::StrFormat(
        "profiler: %d CPU, %d wall, %d heap samples; %d lost, %d stacks truncated; CPU %.3f s "
        "sampled of %.3f s used; own cost: %.3f s in handlers, %.3f s collecting",
        stats.cpu_samples, stats.wall_samples, stats.heap_samples, stats.lost_samples,
        stats.truncated_stacks, static_cast<double>(stats.sampled_cpu_nanos) * seconds,
        static_cast<double>(stats.process_cpu_nanos) * seconds,
        static_cast<double>(stats.handler_nanos) * seconds,
        static_cast<double>(stats.collector_cpu_nanos) * seconds);
  }

  const ProfilerOptions options_;
  SampleStore cpu_;
  SampleStore wall_;
  SampleStore heap_;
  bool has_threads_ = false;
  bool has_heap_ = false;
  bool threads_run_ = false;
  // Read by Collect and Stats on other threads.
  std::atomic<bool> gperftools_runs_ = false;
  bool heap_runs_ = false;
  int64_t start_wall_ = 0;
  int64_t start_monotonic_ = 0;
  std::atomic<int64_t> stop_monotonic_ = 0;  // 0: runs
  int64_t start_cpu_ = 0;
  std::atomic<int64_t> stop_cpu_ = 0;
  int64_t cpu_period_nanos_ = 0;
  GperftoolsCpuProfiler gperftools_;
  absl::Status gperftools_status_;
  uint64_t gperftools_samples_ = 0;
  int64_t gperftools_nanos_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Profiler>> Profiler::Start(const ProfilerOptions& options) {
  if (absl::Status status = CheckOptions(options); !status.ok()) return status;
  auto profiler = std::make_unique<SamplingProfiler>(options);
  if (absl::Status status = profiler->Begin(); !status.ok()) return status;
  return profiler;
}

bool Profiler::HeapProfilingAvailable() { return heap_sampler::Available(); }

absl::Status Profiler::Write(ProfileKind kind, const ProfileRequest& request) {
  absl::StatusOr<Profile> profile = Collect(kind, request);
  if (!profile.ok()) return profile.status();
  return WriteProfile(*profile, request.path);
}

ProfileMark Profiler::MakeMark(Profiler* profiler, uint64_t cpu, uint64_t wall, uint64_t heap) {
  ProfileMark mark;
  mark.profiler_ = profiler;
  mark.cpu_ = cpu;
  mark.wall_ = wall;
  mark.heap_ = heap;
  mark.time_nanos_ = WallNanos();
  mark.monotonic_nanos_ = MonotonicNanos();
  return mark;
}

uint64_t Profiler::MarkPosition(const ProfileMark& mark, ProfileKind kind) {
  return kind == ProfileKind::kCpu    ? mark.cpu_
         : kind == ProfileKind::kWall ? mark.wall_
                                      : mark.heap_;
}

ProfileMark::ProfileMark(ProfileMark&& other) noexcept { *this = std::move(other); }

ProfileMark& ProfileMark::operator=(ProfileMark&& other) noexcept {
  if (this == &other) return *this;
  if (profiler_ != nullptr) profiler_->ReleaseMark(*this);
  profiler_ = std::exchange(other.profiler_, nullptr);
  cpu_ = other.cpu_;
  wall_ = other.wall_;
  heap_ = other.heap_;
  time_nanos_ = other.time_nanos_;
  monotonic_nanos_ = other.monotonic_nanos_;
  return *this;
}

ProfileMark::~ProfileMark() {
  if (profiler_ != nullptr) profiler_->ReleaseMark(*this);
}

void RefreshProfiledThreads() { ThreadSampler::Get().Refresh(); }

}  // namespace blockreplay::profiling
