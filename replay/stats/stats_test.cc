#include <gtest/gtest.h>

#include <numeric>

#include "replay/stats/distribution.h"
#include "replay/stats/phases.h"

namespace blockreplay::replay {
namespace {

TEST(Distribution, OfNothingIsZero) {
  const Distribution d = DistributionOf({});
  EXPECT_EQ(d.p50, 0);
  EXPECT_EQ(d.max, 0);
}

TEST(Distribution, OfOneValueIsThatValue) {
  const Distribution d = DistributionOf({7});
  EXPECT_EQ(d.p50, 7);
  EXPECT_EQ(d.p99, 7);
  EXPECT_EQ(d.mean, 7);
  EXPECT_EQ(d.stddev, 0);
}

TEST(Distribution, PercentilesAreNearestRank) {
  std::vector<double> values(100);
  std::iota(values.rbegin(), values.rend(), 1.0);  // 100 … 1
  const Distribution d = DistributionOf(values);
  EXPECT_EQ(d.p50, 50);
  EXPECT_EQ(d.p90, 90);
  EXPECT_EQ(d.p99, 99);
  EXPECT_EQ(d.max, 100);
  EXPECT_EQ(d.mean, 50.5);
  EXPECT_NEAR(d.stddev, 29.011491975882016, 1e-12);
  EXPECT_EQ(DistributionOf({1, 2, 3}).p50, 2);
  EXPECT_EQ(DistributionOf({1, 2, 3}).p90, 3);
  EXPECT_EQ(DistributionOf({1, 2, 3, 4}).p50, 2);
}

TEST(PhaseClock, PhasesAddUpToTheTimeThatPassed) {
  const int64_t before = profiling::MonotonicNanos();
  PhaseClock clock;
  const int64_t started = profiling::MonotonicNanos();
  volatile uint64_t sink = 0;
  for (int i = 0; i < 1000; ++i) {
    clock.Enter(i % 2 == 0 ? Phase::kApply : Phase::kHash);
    for (int j = 0; j < 1000; ++j) sink = sink + 1;
  }
  const int64_t stopping = profiling::MonotonicNanos();
  clock.Settle();
  const int64_t after = profiling::MonotonicNanos();
  const int64_t sum = std::accumulate(clock.wall().begin(), clock.wall().end(), int64_t{0});
  EXPECT_GE(sum, stopping - started);
  EXPECT_LE(sum, after - before);
  EXPECT_GT(clock.wall()[static_cast<size_t>(Phase::kApply)], 0);
  EXPECT_GT(clock.wall()[static_cast<size_t>(Phase::kHash)], 0);
  EXPECT_EQ(clock.wall()[static_cast<size_t>(Phase::kCommit)], 0);
}

}  // namespace
}  // namespace blockreplay::replay
