#include "replay/cli/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "profiling/thread_clock.h"

namespace blockreplay::replay {
namespace {

constexpr int64_t kNanosPerSecond = 1'000'000'000;
constexpr int64_t kDrawInterval = kNanosPerSecond / 10;
constexpr int64_t kLineInterval = 30 * kNanosPerSecond;

std::string Duration(double seconds) {
  const auto whole = static_cast<int64_t>(std::ceil(seconds));
  if (whole >= 3600)
    return absl::StrFormat("%d:%02d:%02d", whole / 3600, whole / 60 % 60, whole % 60);
  return absl::StrFormat("%d:%02d", whole / 60, whole % 60);
}

int TerminalWidth() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

std::string Proving(const RunPlan& plan) {
  if (plan.options.exec == ExecutionMode::kNative) {
    std::string text =
        "every app hash and store root, computed from our own trees, after executing each block "
        "natively with nothing recorded but the requests (--exec native); and that each phase has "
        "the recorded code, gas, data and events";
    text += plan.manifest.StreamFiles("phases").empty()
                ? "; not proven: the writes of single phases, which are not recorded"
                : " and writes";
    return text;
  }
  std::string text =
      "every app hash and store root, computed from our own trees, after applying each block's "
      "recorded net writes (--exec ";
  absl::StrAppend(&text, NameOf(plan.options.exec), "); ");
  text += plan.options.exec == ExecutionMode::kApply
              ? "not proven: that executing the transactions gives these writes"
              : "and that executing each phase that has native code gives the recorded writes, "
                "code, gas, data and events; not proven: phases without native code";
  return text;
}

}  // namespace

RunProgress::RunProgress(const RunPlan& plan, std::string host)
    : plan_(plan),
      host_(std::move(host)),
      quiet_(plan.options.quiet),
      terminal_(::isatty(STDERR_FILENO) == 1) {}

void RunProgress::OnListen(const std::string& url) {
  if (quiet_) return;
  std::printf("pprof       %s\n", url.c_str());
  std::fflush(stdout);
}

void RunProgress::OnOpen(const std::string& database, const std::string& seek_compaction) {
  Finish();
  if (quiet_) return;
  const RunOptions& options = plan_.options;
  const Manifest& manifest = plan_.manifest;
  std::printf("recording   %s: %s, %s %s, heights %lld to %lld\n", options.recording.c_str(),
              manifest.chain_id.c_str(), manifest.application_name.c_str(),
              manifest.application_version.c_str(), static_cast<long long>(manifest.first_height),
              static_cast<long long>(manifest.last_height));
  std::printf("digest      %s\n", plan_.digest.c_str());
  std::printf(
      "measuring   blocks %lld to %lld%s%s\n", static_cast<long long>(plan_.from),
      static_cast<long long>(plan_.to),
      options.passes > 1 ? absl::StrCat(", ", options.passes, " passes").c_str() : "",
      plan_.pace ? absl::StrCat(", at ", *plan_.pace, " times the original pace").c_str() : "");
  std::printf("proving     %s\n", Proving(plan_).c_str());
  if (options.repeat_block > 1) {
    std::printf("            each block %lld times from the same state\n",
                static_cast<long long>(options.repeat_block));
  }
  std::printf("database    %s (%s), --persist %s, --keep-recent %lld, --cache-mb %lld\n",
              database.c_str(), options.db.empty() ? "temporary" : "kept", NameOf(options.persist),
              static_cast<long long>(options.KeepRecent()),
              static_cast<long long>(options.cache_mb));
  if (options.exec != ExecutionMode::kApply) {
    std::printf("disabled    %s\n", options.disable.empty()
                                        ? "no optimisation"
                                        : absl::StrJoin(options.disable, ", ").c_str());
  }
  std::printf("compaction  seek compaction %s\n", seek_compaction.c_str());
  std::printf("host        %s; %d threads used\n", host_.c_str(), plan_.threads);
  std::fflush(stdout);
}

void RunProgress::OnRestore(const storage::SnapshotProgress& progress) {
  if (quiet_ || !terminal_) return;
  const int64_t now = profiling::MonotonicNanos();
  if (now - last_drawn_ < kDrawInterval || progress.total_bytes == 0) return;
  last_drawn_ = now;
  bar_shown_ = true;
  std::fprintf(
      stderr, "\r\x1b[Krestoring the snapshot: %.0f %%",
      100.0 * static_cast<double>(progress.bytes) / static_cast<double>(progress.total_bytes));
}

void RunProgress::OnPass(int64_t pass, int64_t next_height) {
  pass_ = pass;
  first_height_ = next_height;
  pass_start_ = last_line_ = profiling::MonotonicNanos();
  next_line_tenth_ = 1;
  if (!quiet_ && plan_.options.resume && next_height > plan_.manifest.first_height) {
    std::printf("resuming    at height %lld\n", static_cast<long long>(next_height));
    std::fflush(stdout);
  }
}

void RunProgress::OnBlock(int64_t height) {
  if (quiet_) return;
  const int64_t now = profiling::MonotonicNanos();
  const int64_t done = height - first_height_ + 1;
  const int64_t total = plan_.to - first_height_ + 1;
  const bool draw =
      terminal_ ? now - last_drawn_ >= kDrawInterval
                : done * 10 >= next_line_tenth_ * total || now - last_line_ >= kLineInterval;
  if (!draw) return;
  const double seconds =
      std::max(1e-9, static_cast<double>(now - pass_start_) / static_cast<double>(kNanosPerSecond));
  const double rate = static_cast<double>(done) / seconds;
  const double eta = static_cast<double>(total - done) / rate;
  if (terminal_) {
    last_drawn_ = now;
    DrawBar(height, rate, eta);
  } else {
    last_line_ = now;
    next_line_tenth_ = done * 10 / total + 1;
    PrintLine(height, rate, eta);
  }
}

std::string RunProgress::PassText() const {
  if (plan_.options.passes == 1) return "";
  return absl::StrCat("pass ", pass_, "/", plan_.options.passes, "  ");
}

void RunProgress::DrawBar(int64_t height, double blocks_per_second, double eta_seconds) {
  const double share = static_cast<double>(height - first_height_ + 1) /
                       static_cast<double>(plan_.to - first_height_ + 1);
  const std::string text =
      absl::StrFormat("  %s%3.0f%%  height %d  %.1f blocks/s  ETA %s", PassText(), share * 100,
                      height, blocks_per_second, Duration(eta_seconds));
  const int room = TerminalWidth() - static_cast<int>(text.size()) - 3;
  std::string bar;
  if (room >= 10) {
    const int width = std::min(room, 40);
    const int filled = static_cast<int>(share * width);
    bar = absl::StrCat("[", std::string(static_cast<size_t>(filled), '='),
                       std::string(static_cast<size_t>(width - filled), ' '), "]");
  }
  bar_shown_ = true;
  std::fprintf(stderr, "\r\x1b[K%s%s", bar.c_str(), text.c_str());
}

void RunProgress::PrintLine(int64_t height, double blocks_per_second, double eta_seconds) {
  std::fprintf(stderr, "%sheight %lld of %lld, %.1f blocks/s, ETA %s\n", PassText().c_str(),
               static_cast<long long>(height), static_cast<long long>(plan_.to), blocks_per_second,
               Duration(eta_seconds).c_str());
}

void RunProgress::Finish() {
  if (!bar_shown_) return;
  bar_shown_ = false;
  std::fprintf(stderr, "\r\x1b[K");
}

}  // namespace blockreplay::replay
