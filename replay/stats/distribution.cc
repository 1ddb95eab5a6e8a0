#include "replay/stats/distribution.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace blockreplay::replay {

Distribution DistributionOf(std::vector<double> values) {
  Distribution result;
  if (values.empty()) return result;
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  // In hundredths, so that no rounding of 0.9 * n decides about the rank.
  const auto percentile = [&](size_t percent) { return values[(n * percent + 99) / 100 - 1]; };
  result.p50 = percentile(50);
  result.p90 = percentile(90);
  result.p99 = percentile(99);
  result.max = values.back();
  result.mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(n);
  if (n > 1) {
    double squares = 0;
    for (const double value : values) squares += (value - result.mean) * (value - result.mean);
    result.stddev = std::sqrt(squares / static_cast<double>(n - 1));
  }
  return result;
}

}  // namespace blockreplay::replay
