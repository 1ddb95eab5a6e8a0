#include "replay/engine/profiling_session.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace blockreplay::replay {

using profiling::ProfileKind;
using profiling::Profiler;

bool ProfilingSession::Wanted(const RunOptions& options) {
  return WantsThreads(options) || WantsHeap(options);
}

bool ProfilingSession::WantsThreads(const RunOptions& options) {
  return !options.cpu_profile.empty() || !options.wall_profile.empty() ||
         !options.profile_dir.empty();
}

bool ProfilingSession::WantsHeap(const RunOptions& options) {
  // A series of pairs is of use without heap profiles too; a heap profile that was asked for by
  // name is not to be left out.
  return !options.heap_profile.empty() ||
         (!options.profile_dir.empty() && Profiler::HeapProfilingAvailable());
}

ProfilingSession::ProfilingSession(const RunOptions& options, std::vector<std::string> comments)
    : options_(options), comments_(std::move(comments)) {}

absl::StatusOr<std::unique_ptr<ProfilingSession>> ProfilingSession::Start(
    const RunOptions& options, std::vector<std::string> comments) {
  std::unique_ptr<ProfilingSession> session(new ProfilingSession(options, std::move(comments)));
  profiling::ProfilerOptions profiler_options;
  profiler_options.wall = !options.wall_profile.empty();
  // Signals are the process's: beside a wall profile a listener gets its CPU profiles from here
  // too.
  profiler_options.cpu = !options.profile_dir.empty() || !options.cpu_profile.empty() ||
                         (profiler_options.wall && !options.pprof_listen.empty());
  profiler_options.heap = WantsHeap(options);
  absl::StatusOr<std::unique_ptr<Profiler>> profiler = Profiler::Start(profiler_options);
  if (!profiler.ok()) return profiler.status();
  session->profiler_ = std::shared_ptr<Profiler>(*std::move(profiler));
  return session;
}

void ProfilingSession::StartBlock(int64_t pass, int64_t height) {
  pass_ = pass;
  if (options_.profile_slower_than_ms > 0) block_start_ = profiler_->TakeMark();
  if (options_.profile_every > 0 && series_blocks_ == 0) {
    series_start_ = profiler_->TakeMark();
    series_first_height_ = height;
  }
}

bool ProfilingSession::FinishBlock(int64_t height, double block_ms) {
  last_height_ = height;
  last_block_ms_ = block_ms;
  if (options_.profile_every > 0) ++series_blocks_;
  return LastBlockWasSlow() || SeriesIsDue();
}

absl::Status ProfilingSession::WriteDue() {
  if (LastBlockWasSlow()) {
    if (absl::Status status =
            WritePair(absl::StrCat(PassPrefix(), "slow-", last_height_), block_start_,
                      absl::StrCat("block ", last_height_, ", ", last_block_ms_, " ms"));
        !status.ok()) {
      return status;
    }
  }
  return SeriesIsDue() ? WriteSeries() : absl::OkStatus();
}

std::string ProfilingSession::PassPrefix() const {
  return options_.passes > 1 ? absl::StrCat("pass", pass_, "-") : std::string();
}

bool ProfilingSession::LastBlockWasSlow() const {
  return options_.profile_slower_than_ms > 0 && last_block_ms_ > options_.profile_slower_than_ms;
}

bool ProfilingSession::SeriesIsDue() const {
  return options_.profile_every > 0 && series_blocks_ == options_.profile_every;
}

absl::Status ProfilingSession::WriteSeries() {
  const std::string range = absl::StrCat(series_first_height_, "-", last_height_);
  absl::Status status = WritePair(absl::StrCat(PassPrefix(), "blocks-", range), series_start_,
                                  absl::StrCat("blocks ", range));
  series_blocks_ = 0;
  series_start_ = {};
  return status;
}

absl::Status ProfilingSession::Finish() {
  profiler_->Stop();
  absl::Status first_error;
  const auto keep = [&](const absl::Status& status) {
    if (first_error.ok()) first_error = status;
  };
  if (series_blocks_ > 0) keep(WriteSeries());
  block_start_ = {};
  series_start_ = {};
  const std::pair<ProfileKind, const std::string*> wholes[] = {
      {ProfileKind::kCpu, &options_.cpu_profile},
      {ProfileKind::kWall, &options_.wall_profile},
      {ProfileKind::kHeap, &options_.heap_profile}};
  for (const auto& [kind, path] : wholes) {
    if (path->empty()) continue;
    profiling::ProfileRequest request;
    request.path = *path;
    request.comments = comments_;
    keep(WriteOne(kind, request));
  }
  return first_error;
}

absl::Status ProfilingSession::WritePair(const std::string& name,
                                         const profiling::ProfileMark& mark,
                                         const std::string& what) {
  const profiling::ProfileMark now = profiler_->TakeMark();
  profiling::ProfileRequest request;
  request.comments = comments_;
  request.comments.push_back(what);
  request.since = &mark;
  request.until = &now;
  request.path = absl::StrCat(options_.profile_dir, "/", name, ".cpu.pb.gz");
  if (absl::Status status = WriteOne(ProfileKind::kCpu, request); !status.ok()) return status;
  if (!Profiler::HeapProfilingAvailable()) return absl::OkStatus();
  request.path = absl::StrCat(options_.profile_dir, "/", name, ".heap.pb.gz");
  return WriteOne(ProfileKind::kHeap, request);
}

absl::Status ProfilingSession::WriteOne(ProfileKind kind,
                                        const profiling::ProfileRequest& request) {
  if (absl::Status status = profiler_->Write(kind, request); !status.ok()) return status;
  files_.push_back(request.path);
  return absl::OkStatus();
}

}  // namespace blockreplay::replay
