#pragma once

#include <vector>

namespace blockreplay::replay {

struct Distribution {
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
  double mean = 0;
  double stddev = 0;  // of the sample: divided by n - 1
  double max = 0;
};

// Percentiles are nearest-rank: the smallest value that at least that share of the values does not
// exceed. All zero for no values.
Distribution DistributionOf(std::vector<double> values);

}  // namespace blockreplay::replay
