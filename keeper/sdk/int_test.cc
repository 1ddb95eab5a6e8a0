#include "keeper/sdk/int.h"

#include <string>

#include "gtest/gtest.h"
#include "keeper/sdk/panic.h"

namespace blockreplay::keeper::sdk {
namespace {

const char* const kMax256 =
    "115792089237316195423570985008687907853269984665640564039457584007913129639935";

TEST(IntTest, ReadsAndWritesDecimalText) {
  for (const char* text : {"0", "1", "-1", "18446744073709551616", kMax256}) {
    const absl::StatusOr<Int> value = Int::Unmarshal(text);
    ASSERT_TRUE(value.ok()) << text;
    EXPECT_EQ(value->ToString(), text);
  }
  EXPECT_TRUE(Int::Unmarshal("")->IsZero());
  for (const char* text :
       {"-", "x", "1x", " 1", "0x", "0b2", "08", "0o8", "1__0", "_1", "1_", "0x1_", "--1",
        "115792089237316195423570985008687907853269984665640564039457584007913129639936"}) {
    EXPECT_FALSE(Int::Unmarshal(text).ok()) << text;
  }
}

// Go's rules for big.Int.UnmarshalText.
TEST(IntTest, ReadsOtherBases) {
  EXPECT_EQ(Int::Unmarshal("+7").value(), Int(7));
  EXPECT_EQ(Int::Unmarshal("0x1F").value(), Int(31));
  EXPECT_EQ(Int::Unmarshal("-0b101").value(), Int(-5));
  EXPECT_EQ(Int::Unmarshal("010").value(), Int(8));
  EXPECT_EQ(Int::Unmarshal("0o1_0").value(), Int(8));
  EXPECT_EQ(Int::Unmarshal("0_7").value(), Int(7));
  EXPECT_EQ(Int::Unmarshal("1_000").value(), Int(1000));
  EXPECT_EQ(Int::Unmarshal("00").value(), Int(0));
}

TEST(IntTest, PanicsBeyond256Bits) {
  const Int max = *Int::Unmarshal(kMax256);
  EXPECT_THROW((void)(max + Int(1)), Panic);
  EXPECT_EQ((max - max), Int());
  EXPECT_LT(Int() - max, Int(-1));
}

TEST(IntTest, GoesThroughLimbs) {
  const Int value = *Int::Unmarshal("340282366920938463463374607431768211457");  // 2^128 + 1
  const std::array<uint64_t, 4> limbs = value.Limbs();
  EXPECT_EQ(limbs, (std::array<uint64_t, 4>{1, 0, 1, 0}));
  EXPECT_EQ(Int::FromLimbs(limbs), value);
  EXPECT_EQ(Int::FromLimbs(Int().Limbs()), Int());
}

TEST(CoinsTest, ValidOnesAreSortedDistinctAndPositive) {
  const Coin a("aaa", 1);
  const Coin b("bbb", 2);
  EXPECT_TRUE(IsValid({}));
  EXPECT_TRUE(IsValid({a, b}));
  EXPECT_FALSE(IsValid({b, a}));
  EXPECT_FALSE(IsValid({a, a}));
  EXPECT_FALSE(IsValid({Coin("aaa", 0)}));
  EXPECT_FALSE(IsValid({Coin("aa", 1)}));
  EXPECT_EQ(ToString(Coins{a, b}), "1aaa,2bbb");
}

}  // namespace
}  // namespace blockreplay::keeper::sdk
