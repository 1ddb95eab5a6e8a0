#include "keeper/thorchain/memo/asset_match.h"

#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace blockreplay::keeper::thorchain {
namespace {

class FakePools : public PoolLookup {
 public:
  explicit FakePools(std::vector<std::pair<std::string, uint64_t>> pools) {
    for (const auto& [name, balance] : pools) {
      pools_.emplace_back(Asset::Parse(name).value(), balance);
    }
  }

  std::optional<Uint> GetBalanceRune(const Asset& asset) override {
    if (unreadable) return std::nullopt;
    for (const auto& [pool, balance] : pools_) {
      if (pool == asset) return balance;
    }
    return Uint();
  }

  void ForEachPool(const std::function<void(const Asset&, const Uint&)>& visit) override {
    ++iterations;
    for (const auto& [pool, balance] : pools_) visit(pool, balance);
  }

  bool unreadable = false;
  int iterations = 0;

 private:
  std::vector<std::pair<Asset, Uint>> pools_;
};

std::string Match(FakePools& pools, std::string_view name) {
  return FuzzyAssetMatch(pools, Asset::Parse(name).value()).ToString();
}

TEST(FuzzyAssetMatchTest, TakesTheDeepestPoolThatFits) {
  FakePools pools({{"BTC.BTC", 9},
                   {"ETH.USDC-0XA0EB48", 5},
                   {"ETH.USDC-0XB1EB48", 7},
                   {"ETH.USDC-0XC2AAAA", 6},
                   {"AVAX.USDC-0XDDEB48", 99}});
  EXPECT_EQ(Match(pools, "ETH.USDC"), "ETH.USDC-0XB1EB48");
  EXPECT_EQ(Match(pools, "ETH.USDC-"), "ETH.USDC-0XB1EB48");
  EXPECT_EQ(Match(pools, "ETH.usdc-eb48"), "ETH.USDC-0XB1EB48");
  EXPECT_EQ(Match(pools, "ETH.USDC-A0EB48"), "ETH.USDC-0XA0EB48");
  EXPECT_EQ(Match(pools, "ETH.USDC-AAAA"), "ETH.USDC-0XC2AAAA");
  EXPECT_EQ(Match(pools, "ETH/USDC-AAAA"), "ETH/USDC-0XC2AAAA");
  EXPECT_EQ(Match(pools, "ETH~USDC"), "ETH~USDC-0XB1EB48");
}

TEST(FuzzyAssetMatchTest, KeepsTheAssetWithoutAMatch) {
  FakePools pools({{"ETH.USDC-0XA0EB48", 5}});
  EXPECT_EQ(Match(pools, "ETH.USDT"), "ETH.USDT");
  EXPECT_EQ(Match(pools, "ETH.USDC-FFFF"), "ETH.USDC-FFFF");
}

TEST(FuzzyAssetMatchTest, LooksNoFurtherThanAPoolThatHasRune) {
  FakePools pools({{"ETH.USDC-0XA0EB48", 5}});
  EXPECT_EQ(Match(pools, "ETH.USDC-0XA0EB48"), "ETH.USDC-0XA0EB48");
  EXPECT_EQ(pools.iterations, 0);
  pools.unreadable = true;
  EXPECT_EQ(Match(pools, "ETH.USDC"), "ETH.USDC");
  EXPECT_EQ(pools.iterations, 0);
}

TEST(FuzzyAssetMatchTest, OfEqualsTheLastWins) {
  FakePools pools({{"ETH.USDC-0XA", 0}, {"ETH.USDC-0XB", 0}});
  EXPECT_EQ(Match(pools, "ETH.USDC"), "ETH.USDC-0XB");
}

TEST(MatchExternalAssetTest, CompletesAUniqueEnding) {
  const Build mocknet = Build::Make("3.17.0", "mocknet", "", {}).value();
  // As in a memo of the regression recordings, "=:e:...::::6f3848:19e4348".
  EXPECT_EQ(MatchExternalAsset(mocknet, chains::kETH, "19E4348"),
            "0x6f67873ebc41ed88B08A9265Bd16480f819e4348");
  EXPECT_EQ(MatchExternalAsset(mocknet, chains::kETH, "19e4349"), "19e4349");
  EXPECT_EQ(MatchExternalAsset(mocknet, chains::kBTC, "19e4348"), "19e4348");
  EXPECT_EQ(MatchExternalAsset(mocknet, chains::kETH, ""), "");
  const Build mainnet = Build::Make("3.17.0", "mainnet", "", {}).value();
  // As in a memo of fixtures/generated/aggregators-mainnet, "=:ETH.ETH:...:1:::ca8c53D:793f:1e6".
  EXPECT_EQ(MatchExternalAsset(mainnet, chains::kETH, "793f"),
            "0xf8C3527CC04340b208C854E985240c02F7B7793f");
  // Several end so.
  EXPECT_EQ(MatchExternalAsset(mocknet, chains::kETH, "8"), "8");
}

}  // namespace
}  // namespace blockreplay::keeper::thorchain
