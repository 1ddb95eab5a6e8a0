// The gas price after a block, which the recording never changes: its blocks stay below the target
// and its price at the lowest. Expected values follow from the formula in fixtures/gno/SPEC.md,
// section 7.

#include "keeper/gno/end_block.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "keeper/sdk/panic.h"

namespace blockreplay::keeper::gno {
namespace {

constexpr int64_t kMaxGas = 3000;  // a target of 2,100

GasPrice Price(int64_t amount) { return {.gas = 1000, .denom = "ugnot", .amount = amount}; }

int64_t Next(int64_t amount, int64_t gas_used, const GasPriceParams& params) {
  return NextGasPrice(Price(amount), gas_used, kMaxGas, params).amount;
}

GasPriceParams Params(int64_t initial) {
  return {.change_compressor = 10, .target_gas_ratio = 70, .initial = Price(initial)};
}

TEST(GasPriceTest, RisesAboveTheTargetByOneAtLeast) {
  // 900 * 100 / 2100 / 10.
  EXPECT_EQ(Next(100, 3000, Params(1)), 104);
  // More than the block's limit: what was consumed counts.
  EXPECT_EQ(Next(100, 4200, Params(1)), 110);
  EXPECT_EQ(Next(100, 2101, Params(1)), 101);
  EXPECT_EQ(Next(1, 3000, Params(1)), 2);
}

TEST(GasPriceTest, FallsBelowTheTargetByOneAtLeast) {
  EXPECT_EQ(Next(100, 0, Params(1)), 90);
  EXPECT_EQ(Next(100, 2099, Params(1)), 99);
  // Not below the initial price.
  EXPECT_EQ(Next(100, 0, Params(95)), 95);
  EXPECT_EQ(Next(95, 0, Params(95)), 95);
}

TEST(GasPriceTest, ReturnsToTheInitialPriceFromBelow) {
  GasPriceParams params = Params(95);
  params.initial.gas = 7;
  EXPECT_EQ(NextGasPrice(Price(90), 0, kMaxGas, params), params.initial);
  // Above the target it goes on from where it is.
  EXPECT_EQ(Next(90, 2101, params), 91);
}

TEST(GasPriceTest, StaysWhereNothingMovesIt) {
  EXPECT_EQ(Next(100, 2100, Params(1)), 100);
  EXPECT_EQ(Next(0, 3000, Params(5)), 0);
  GasPriceParams params = Params(1);
  params.target_gas_ratio = 0;
  EXPECT_EQ(Next(100, 3000, params), 100);
}

TEST(GasPriceTest, PanicsWhereTheOriginalDoes) {
  EXPECT_THROW(Next(INT64_MAX, 4200, Params(1)), sdk::Panic);
  GasPriceParams params = Params(1);
  params.change_compressor = 0;
  EXPECT_THROW(Next(100, 3000, params), sdk::Panic);
}

}  // namespace
}  // namespace blockreplay::keeper::gno
