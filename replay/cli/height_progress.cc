#include "replay/cli/height_progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
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

}  // namespace

HeightProgress::HeightProgress(bool quiet)
    : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) == 1) {}

void HeightProgress::Start(int64_t first, int64_t last, std::string prefix) {
  prefix_ = std::move(prefix);
  first_ = first;
  last_ = last;
  start_ = last_line_ = profiling::MonotonicNanos();
  next_line_tenth_ = 1;
}

void HeightProgress::OnHeight(int64_t height) {
  if (quiet_) return;
  const int64_t now = profiling::MonotonicNanos();
  const int64_t done = height - first_ + 1;
  const int64_t total = last_ - first_ + 1;
  const bool tenth = last_ != 0 && done * 10 >= next_line_tenth_ * total;
  const bool draw =
      terminal_ ? now - last_drawn_ >= kDrawInterval : tenth || now - last_line_ >= kLineInterval;
  if (!draw) return;
  const double seconds =
      std::max(1e-9, static_cast<double>(now - start_) / static_cast<double>(kNanosPerSecond));
  const double rate = static_cast<double>(done) / seconds;
  if (terminal_) {
    last_drawn_ = now;
    DrawBar(height, rate);
  } else {
    last_line_ = now;
    if (last_ != 0) next_line_tenth_ = done * 10 / total + 1;
    PrintLine(height, rate);
  }
}

std::string HeightProgress::Eta(int64_t height, double blocks_per_second) const {
  if (last_ == 0) return "";
  return absl::StrCat("ETA ", Duration(static_cast<double>(last_ - height) / blocks_per_second));
}

void HeightProgress::DrawBar(int64_t height, double blocks_per_second) {
  std::string text = absl::StrFormat("  %sheight %d  %.1f blocks/s  %s", prefix_, height,
                                     blocks_per_second, Eta(height, blocks_per_second));
  std::string bar;
  if (last_ != 0) {
    const double share =
        static_cast<double>(height - first_ + 1) / static_cast<double>(last_ - first_ + 1);
    text = absl::StrFormat("  %3.0f%%%s", share * 100, text);
    const int room = TerminalWidth() - static_cast<int>(text.size()) - 3;
    if (room >= 10) {
      const int width = std::min(room, 40);
      const int filled = static_cast<int>(share * width);
      bar = absl::StrCat("[", std::string(static_cast<size_t>(filled), '='),
                         std::string(static_cast<size_t>(width - filled), ' '), "]");
    }
  }
  bar_shown_ = true;
  std::fprintf(stderr, "\r\x1b[K%s%s", bar.c_str(), text.c_str());
}

void HeightProgress::PrintLine(int64_t height, double blocks_per_second) {
  const std::string eta = Eta(height, blocks_per_second);
  std::fprintf(stderr, "%sheight %lld%s, %.1f blocks/s%s\n", prefix_.c_str(),
               static_cast<long long>(height),
               last_ == 0 ? "" : absl::StrCat(" of ", last_).c_str(), blocks_per_second,
               eta.empty() ? "" : absl::StrCat(", ", eta).c_str());
}

void HeightProgress::ShowShare(const char* doing, double share) {
  if (quiet_ || !terminal_) return;
  const int64_t now = profiling::MonotonicNanos();
  if (now - last_drawn_ < kDrawInterval) return;
  last_drawn_ = now;
  bar_shown_ = true;
  std::fprintf(stderr, "\r\x1b[K%s: %.0f %%", doing, 100.0 * share);
}

void HeightProgress::Finish() {
  if (!bar_shown_) return;
  bar_shown_ = false;
  std::fprintf(stderr, "\r\x1b[K");
}

}  // namespace blockreplay::replay
