// Checks the constants against what THORNode 3.17.0 says they are, built without tags, with
// mocknet, and with mocknet in an environment that sets some.

#include "keeper/thorchain/constants/constants.h"

#include <string>

#include "gtest/gtest.h"
#include "keeper/thorchain/common/status_text.h"
#include "keeper/thorchain/common/vectors.h"
#include "keeper/thorchain/constants/build.h"

namespace blockreplay::keeper::thorchain {
namespace {

// As in constants_mocknet_environment.jsonl.
const Environment& SomeEnvironment() {
  static const Environment kEnvironment{{"L1_SLIP_MIN_BPS", "50"},
                                        {"EMISSION_CURVE", "1000000000000"},
                                        {"STRICT_BOND_LIQUIDITY_RATIO", "true"},
                                        {"TCY_CLAIMING_SWAP_HALT", "0"},
                                        {"SLIP_MIN_BPS_MAX", "notnum"},
                                        {"BLOCKS_PER_YEAR", "99999999999999999999"},
                                        {"DEV_FUND_ADDRESS", "foo"},
                                        {"ENABLE_MEMOLESS_OUTBOUND", "7"},
                                        {"MAX_RUNE_SUPPLY", "-5"},
                                        {"TNS_REGISTER_FEE_USD", "+3"},
                                        {"RUNE_POOL_ENABLED", "1"},
                                        {"RUNEPOOL_ENABLED", "2"},
                                        {"EVM_DISABLE_CONTRACT_WHITELIST", "1"},
                                        {"POL_BUFFER", "4"},
                                        {"TCY_STAKING_HALT", "0"}};
  return kEnvironment;
}

void ExpectEqual(const ConstantSet& constants, const char* file) {
  const auto vectors = LoadVectors(std::string(THORCHAIN_CONSTANTS_TESTDATA) + "/" + file);
  ASSERT_EQ(vectors.size(), 1U);
  const nlohmann::json& expected = vectors[0];
  for (size_t i = 0; i < kConstantCount; ++i) {
    const auto name = static_cast<ConstantName>(i);
    const std::string key(ToString(name));
    SCOPED_TRACE(key);
    EXPECT_EQ(GetConstantByName(key), name);
    EXPECT_EQ(constants.GetInt64(name), expected.at("int64").value(key, int64_t{0}));
    EXPECT_EQ(constants.GetBool(name), expected.at("bool").value(key, false));
    EXPECT_EQ(constants.GetString(name), expected.at("string").value(key, ""));
  }
  for (const char* kind : {"int64", "bool", "string"}) {
    for (const auto& [key, value] : expected.at(kind).items()) {
      EXPECT_TRUE(GetConstantByName(key).has_value()) << key;
    }
  }
}

TEST(ConstantsTest, MainNet) { ExpectEqual(ConstantSet::MainNet(), "constants_mainnet.jsonl"); }

TEST(ConstantsTest, MockNet) { ExpectEqual(ConstantSet::MockNet(), "constants_mocknet.jsonl"); }

TEST(ConstantsTest, MockNetReadsItsEnvironment) {
  ExpectEqual(ConstantSet::MockNetWith(SomeEnvironment()), "constants_mocknet_environment.jsonl");
}

TEST(ConstantsTest, MimirFallsBackToTheEnvironmentOnMockNetOnly) {
  const ConstantSet set =
      ConstantSet::MockNetWith({{"L1_SLIP_MIN_BPS", "50"}, {"HALT_ETH_X", "no"}});
  const auto number = set.GetMimirFallback("L1SlipMinBps");
  ASSERT_TRUE(number.has_value());
  EXPECT_TRUE(number->is_number);
  EXPECT_EQ(number->value, 50);
  EXPECT_FALSE(set.GetMimirFallback("L1SLIPMINBPS").has_value());
  const auto text = set.GetMimirFallback("Halt-ETH-X");
  ASSERT_TRUE(text.has_value());
  EXPECT_FALSE(text->is_number);
  EXPECT_FALSE(ConstantSet::MainNet().GetMimirFallback("L1SlipMinBps").has_value());
}

TEST(BuildTest, FollowsTheManifest) {
  const auto mainnet = Build::Make("3.17.0", "mainnet", "", SomeEnvironment());
  ASSERT_TRUE(mainnet.ok());
  EXPECT_EQ(mainnet->network, &MainNet());
  EXPECT_EQ(mainnet->software_version, "3.17.0");
  EXPECT_FALSE(mainnet->regtest);
  EXPECT_EQ(mainnet->constants.GetInt64(ConstantName::kL1SlipMinBps), 0);

  const auto regtest = Build::Make("3.17.0", "regtest,mocknet", "9.999.0",
                                   RegressionSuiteEnvironment("swaps/streaming-swaps.yaml"));
  ASSERT_TRUE(regtest.ok());
  EXPECT_EQ(regtest->network, &MockNet());
  EXPECT_EQ(regtest->software_version, "9.999.0");
  EXPECT_TRUE(regtest->regtest);
  EXPECT_EQ(regtest->constants.GetInt64(ConstantName::kL1SlipMinBps), 50);
  EXPECT_EQ(regtest->constants.GetInt64(ConstantName::kSynthSlipMinBps), 50);
  EXPECT_TRUE(RegressionSuiteEnvironment("send/send.yaml").empty());

  EXPECT_FALSE(Build::Make("3.16.0", "mainnet", "", {}).ok());
  EXPECT_FALSE(Build::Make("3.17.0", "stagenet", "", {}).ok());
  EXPECT_FALSE(Build::Make("3.17.0", "regtest", "", {}).ok());
}

TEST(BuildTest, FindsAggregatorsByTheirEnd) {
  const auto build = Build::Make("3.17.0", "mocknet", "", {});
  ASSERT_TRUE(build.ok());
  // As the regression recording api-quotes-swap-fuzzy asks for.
  const auto found = FindDexAggregator(*build, "ETH", "6f3848");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->address, "0x69800327b38A4CeF30367Dec3f64c2f2386f3848");
  EXPECT_EQ(ErrorText(FindDexAggregator(*build, "AVAX", "6f3848")), "6f3848 aggregator not found");
}

}  // namespace
}  // namespace blockreplay::keeper::thorchain
