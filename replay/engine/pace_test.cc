#include "replay/engine/pace.h"

#include <gtest/gtest.h>

namespace blockreplay::replay {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

TEST(Pacer, ParsesFactors) {
  EXPECT_EQ(Pacer::ParseFactor("max")->has_value(), false);
  EXPECT_EQ(*Pacer::ParseFactor("original"), 1.0);
  EXPECT_EQ(*Pacer::ParseFactor("0.5"), 0.5);
  for (const char* text : {"", "fast", "0", "-1", "nan", "inf", "1x"}) {
    EXPECT_FALSE(Pacer::ParseFactor(text).ok()) << text;
  }
}

TEST(Pacer, WaitsForTheBlocksTime) {
  Pacer pacer(2.0);
  const int64_t t0 = 1'700'000'000 * kSecond;
  EXPECT_EQ(pacer.NanosToWait(t0, 100), 0);
  // 6 seconds later at twice the speed is after 3; one has passed.
  EXPECT_EQ(pacer.NanosToWait(t0 + 6 * kSecond, 100 + kSecond), 2 * kSecond);
  EXPECT_EQ(pacer.NanosToWait(t0 + 12 * kSecond, 100 + 7 * kSecond), 0);
  EXPECT_EQ(pacer.NanosToWait(t0 + 18 * kSecond, 100 + 7 * kSecond), 2 * kSecond);
  EXPECT_EQ(pacer.NanosToWait(t0 - kSecond, 100), 0);
}

TEST(Pacer, AtFullSpeedNothingIsWaitedFor) {
  Pacer pacer(std::nullopt);
  EXPECT_EQ(pacer.NanosToWait(0, 0), 0);
  EXPECT_EQ(pacer.NanosToWait(1'000 * kSecond, 0), 0);
}

}  // namespace
}  // namespace blockreplay::replay
