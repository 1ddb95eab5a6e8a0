#pragma once

#include <cstdint>
#include <string>

namespace blockreplay::replay {

// Shows on stderr how far something is that goes from height to height: a bar with height, blocks/s
// and ETA on a terminal, a plain line every ten percent (and at least every half minute) elsewhere.
// Silent if quiet.
class HeightProgress {
 public:
  explicit HeightProgress(bool quiet);

  // Heights `first` to `last` come now; `last` is 0 where the end is not known. `prefix` stands
  // before everything shown.
  void Start(int64_t first, int64_t last, std::string prefix = "");
  // `height` is done.
  void OnHeight(int64_t height);
  // What comes before the heights; on terminals only.
  void ShowShare(const char* doing, double share);
  // Removes the bar.
  void Finish();

 private:
  void DrawBar(int64_t height, double blocks_per_second);
  void PrintLine(int64_t height, double blocks_per_second);
  // ", ETA 1:23", empty where the end is not known.
  std::string Eta(int64_t height, double blocks_per_second) const;

  const bool quiet_;
  const bool terminal_;
  std::string prefix_;
  int64_t first_ = 0;
  int64_t last_ = 0;
  int64_t start_ = 0;  // monotonic nanoseconds
  int64_t last_drawn_ = 0;
  int64_t last_line_ = 0;
  int64_t next_line_tenth_ = 1;
  bool bar_shown_ = false;
};

}  // namespace blockreplay::replay
