#include "keeper/thorchain/common/coin.h"

#include "gtest/gtest.h"
#include "keeper/thorchain/common/status_text.h"
#include "keeper/thorchain/common/tx.h"

namespace blockreplay::keeper::thorchain {
namespace {

Coin Of(uint64_t amount, std::string_view asset) {
  return Coin(Asset::Parse(asset).value(), amount);
}

TEST(CoinTest, ReadsAndWritesText) {
  const Coin coin = Coin::Parse("12 ETH.USDC-0Xab").value();
  EXPECT_EQ(coin.ToString(), "12 ETH.USDC-0XAB");
  EXPECT_EQ(ErrorText(Coin::Parse("12")), "invalid coin string: 12");
  EXPECT_EQ(ErrorText(Coin::Parse("1 2 3")), "invalid coin string: 1 2 3");
  EXPECT_EQ(ErrorText(Coin::Parse("x BTC.BTC")),
            "invalid coin string: x BTC.BTC: cannot convert \"x\" to big.Int");
  EXPECT_EQ(ErrorText(Coin::Parse("1 B.B")),
            "invalid coin string: 1 B.B: chain id len is less than 3");
}

TEST(CoinTest, EqualityIgnoresCaseAndDecimals) {
  Coin coin = Of(1, "BTC.BTC");
  coin.asset.symbol = "btc";
  coin.decimals = 6;
  EXPECT_EQ(coin, Of(1, "BTC.BTC"));
  EXPECT_FALSE(coin == Of(2, "BTC.BTC"));
  EXPECT_FALSE(coin == Of(1, "BTC/BTC"));
}

TEST(CoinsTest, AddsToTheFirstOfAnAsset) {
  const Coins coins{Of(1, "BTC.BTC"), Of(2, "ETH.ETH"), Of(3, "BTC.BTC")};
  EXPECT_EQ(coins.Add({Of(10, "BTC.BTC"), Of(5, "THOR.RUNE"), Of(7, "THOR.RUNE")}).ToString(),
            "11 BTC.BTC, 2 ETH.ETH, 3 BTC.BTC, 12 THOR.RUNE");
  EXPECT_EQ(coins.SafeSub({Of(10, "BTC.BTC"), Of(1, "ETH.ETH"), Of(1, "LTC.LTC")}).ToString(),
            "0 BTC.BTC, 1 ETH.ETH, 3 BTC.BTC");
}

TEST(CoinsTest, ComparesInAnyOrder) {
  const Coins a{Of(1, "BTC.BTC"), Of(2, "ETH.ETH")};
  const Coins b{Of(2, "ETH.ETH"), Of(1, "BTC.BTC")};
  EXPECT_TRUE(a.EqualsEx(b));
  EXPECT_FALSE(a.EqualsEx({Of(2, "ETH.ETH"), Of(2, "BTC.BTC")}));
  EXPECT_FALSE(a.EqualsEx({Of(1, "BTC.BTC")}));
  Coins left = b;
  Coins right = b;
  EXPECT_TRUE(GasEqualsAndSort(left, right));
  EXPECT_EQ(left.ToString(), "1 BTC.BTC, 2 ETH.ETH");
  EXPECT_EQ(right.ToString(), "1 BTC.BTC, 2 ETH.ETH");
}

TEST(CoinsTest, Filters) {
  const Coins coins{Of(0, "BTC.BTC"), Of(2, "ETH/ETH"), Of(2, "ETH/ETH"), Coin(Asset(), 5)};
  EXPECT_EQ(coins.NoneEmpty().ToString(), "2 ETH/ETH, 2 ETH/ETH");
  EXPECT_EQ(coins.Distinct().size(), 3U);
  EXPECT_TRUE(coins.HasSynthetic());
  EXPECT_FALSE(coins.IsEmpty());
  EXPECT_TRUE(Coins{Of(0, "BTC.BTC")}.IsEmpty());
  EXPECT_TRUE(Coins().IsEmpty());
  EXPECT_EQ(coins.GetCoin(Asset::Parse("ETH/ETH").value()).amount, Uint(2));
  EXPECT_TRUE(coins.GetCoin(assets::kLTC).IsEmpty());
  EXPECT_EQ(Message(coins.Valid()), "amount cannot be zero");
  EXPECT_EQ(Message(Coins{Coin(Asset(), 5)}.Valid()), "denom cannot be empty");
}

TEST(TxTest, ChecksWhatMustBeThere) {
  Tx tx = Tx::Make(TxID(kBlankTxID), Address("from"), Address("to"), {Of(1, "ETH/ETH")}, {}, "m");
  EXPECT_EQ(tx.chain, chains::kTHOR);
  EXPECT_TRUE(tx.Valid().ok());
  tx.chain = chains::kETH;
  EXPECT_EQ(Message(tx.Valid()), "must have at least 1 gas coin");
  tx.gas = {Of(0, "ETH.ETH")};
  EXPECT_EQ(Message(tx.Valid()), "amount cannot be zero");
  tx.gas = {Of(1, "ETH.ETH")};
  tx.memo = std::string(251, 'm');
  EXPECT_EQ(Message(tx.Valid()), "memo must not exceed 250 bytes: 251");
  EXPECT_EQ(Message(Tx().Valid()), "Tx ID cannot be empty");
}

TEST(TxTest, EqualityIgnoresCaseAndOrder) {
  Tx a = Tx::Make(TxID("aB"), Address("From"), Address("to"), {Of(1, "ETH.ETH"), Of(2, "BTC.BTC")},
                  {Of(3, "ETH.ETH")}, "Memo");
  Tx b = Tx::Make(TxID("Ab"), Address("froM"), Address("to"), {Of(2, "BTC.BTC"), Of(1, "ETH.ETH")},
                  {Of(3, "ETH.ETH")}, "mEMO");
  b.chain = chains::kETH;
  EXPECT_TRUE(a.EqualsEx(b));
  b.gas = {Of(4, "ETH.ETH")};
  EXPECT_FALSE(a.EqualsEx(b));
  EXPECT_TRUE(a.EqualsExIgnoreGas(b));
}

}  // namespace
}  // namespace blockreplay::keeper::thorchain
