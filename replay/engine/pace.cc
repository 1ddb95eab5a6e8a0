#include "replay/engine/pace.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace blockreplay::replay {

absl::StatusOr<std::optional<double>> Pacer::ParseFactor(const std::string& text) {
  if (text == "max") return std::optional<double>();
  if (text == "original") return std::optional<double>(1);
  double factor = 0;
  if (!absl::SimpleAtod(text, &factor) || !std::isfinite(factor) || factor <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--pace ", text, " is neither max, original nor a positive number"));
  }
  return std::optional<double>(factor);
}

int64_t Pacer::NanosToWait(int64_t block_time, int64_t now) {
  if (!factor_) return 0;
  if (!started_) {
    started_ = true;
    first_block_time_ = block_time;
    start_ = now;
  }
  const double offset = static_cast<double>(block_time - first_block_time_) / *factor_;
  // Beyond some centuries the sum would overflow; nobody waits for that.
  constexpr double kLongest = 9e18;
  const double wait = offset - static_cast<double>(now - start_);
  return static_cast<int64_t>(std::clamp(wait, 0.0, kLongest));
}

}  // namespace blockreplay::replay
