// Properties of Uint against Boost's unlimited integers. What the node itself calculates is in
// vectors_test.cc.

#include "keeper/thorchain/common/uint.h"

#include <boost/multiprecision/cpp_int.hpp>
#include <functional>
#include <optional>
#include <random>
#include <string>

#include "gtest/gtest.h"
#include "keeper/thorchain/common/panic.h"

namespace blockreplay::keeper::thorchain {
namespace {

using Model = boost::multiprecision::cpp_int;

Model Limit() { return Model(1) << 256; }

// Uints of all sizes, often at a limb's edge.
class Numbers {
 public:
  Uint Next() {
    std::array<uint64_t, 4> limbs{};
    const size_t count = random_() % 5;
    for (size_t i = 0; i < count; ++i) {
      const uint64_t kind = random_() % 4;
      limbs[i] = kind == 0 ? 0 : kind == 1 ? ~uint64_t{0} : random_() >> random_() % 64;
    }
    return Uint::FromLimbs(limbs);
  }

 private:
  std::mt19937_64 random_{20};
};

std::optional<std::string> Calculate(const std::function<Uint()>& calculate) {
  try {
    return calculate().ToString();
  } catch (const Panic&) {
    return std::nullopt;
  }
}

std::optional<std::string> InRange(const Model& value) {
  if (value < 0 || value >= Limit()) return std::nullopt;
  return value.str();
}

TEST(UintPropertiesTest, CalculatesLikeUnlimitedIntegersWithinRange) {
  Numbers numbers;
  for (int i = 0; i < 20'000; ++i) {
    const Uint a = numbers.Next();
    const Uint b = numbers.Next();
    const Uint c = numbers.Next();
    const Model x(a.ToString());
    const Model y(b.ToString());
    const Model z(c.ToString());
    SCOPED_TRACE(a.ToString() + " " + b.ToString() + " " + c.ToString());
    ASSERT_EQ(Calculate([&] { return a + b; }), InRange(x + y));
    ASSERT_EQ(Calculate([&] { return a - b; }), InRange(x - y));
    ASSERT_EQ(Calculate([&] { return a * b; }), InRange(x * y));
    if (b.IsZero()) {
      ASSERT_FALSE(Calculate([&] { return a / b; }).has_value());
      ASSERT_FALSE(Calculate([&] { return a % b; }).has_value());
    } else {
      ASSERT_EQ(Calculate([&] { return a / b; }), InRange(x / y));
      ASSERT_EQ(Calculate([&] { return a % b; }), InRange(x % y));
    }
    ASSERT_EQ(a < b, x < y);
    ASSERT_EQ(a == b, x == y);
    const bool any_zero = a.IsZero() || b.IsZero() || c.IsZero();
    const Model share = any_zero ? Model(0) : Model((z * x + y / 2) / y);
    ASSERT_EQ(Calculate([&] { return GetUncappedShare(a, b, c); }), InRange(share));
    ASSERT_EQ(Uint::Parse(a.ToString()).value(), a);
    ASSERT_EQ(Uint::Unmarshal(a.ToString()).value(), a);
  }
}

TEST(UintTest, MediansAndMeans) {
  EXPECT_EQ(Median(std::vector<Uint>{}), Uint());
  EXPECT_EQ(Median(std::vector<Uint>{9, 1, 5}), Uint(5));
  EXPECT_EQ(Median(std::vector<Uint>{9, 1, 5, 2}), Uint(3));
  EXPECT_EQ(Median(std::vector<int64_t>{-9, -1, -5, -2}), -3);
  EXPECT_EQ(WeightedMean({10, 20}, {1, 3}).value(), Uint(17));
  EXPECT_FALSE(WeightedMean({10, 20}, {0, 0}).ok());
  EXPECT_THROW((void)WeightedMean({10}, {1, 3}), Panic);
}

TEST(UintTest, ConvertsDecimals) {
  EXPECT_EQ(ConvertDecimals(123'456, 6, 3).value(), Uint(123));
  EXPECT_EQ(ConvertDecimals(123, 3, 6).value(), Uint(123'000));
  EXPECT_EQ(ConvertDecimals(123, 3, 3).value(), Uint(123));
  EXPECT_EQ(ConvertDecimals(123, 90, 0).value(), Uint());
  EXPECT_FALSE(ConvertDecimals(123, -1, 3).ok());
}

}  // namespace
}  // namespace blockreplay::keeper::thorchain
