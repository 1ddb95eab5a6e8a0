#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace blockreplay::replay {

// Block times of the recording, as nanoseconds since the epoch, turned into moments at which to
// start the blocks: 1 is the original speed, 2 twice as fast. Nothing is waited for without a
// factor, nor where block times go backwards. A block that starts late shifts nothing: the next
// ones catch up.
class Pacer {
 public:
  // "max" is no factor, "original" 1, and a positive number itself.
  static absl::StatusOr<std::optional<double>> ParseFactor(const std::string& text);

  explicit Pacer(std::optional<double> factor) : factor_(factor) {}

  // How long to wait at `now` (monotonic nanoseconds) before the block of `block_time` starts. The
  // first call starts the clock.
  int64_t NanosToWait(int64_t block_time, int64_t now);
  // The next call of NanosToWait starts the clock anew.
  void Restart() { started_ = false; }

 private:
  std::optional<double> factor_;
  bool started_ = false;
  int64_t first_block_time_ = 0;
  int64_t start_ = 0;
};

}  // namespace blockreplay::replay
