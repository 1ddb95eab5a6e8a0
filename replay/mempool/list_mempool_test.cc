#include "replay/mempool/list_mempool.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace blockreplay::replay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ListMempoolTest, KeepsTheOrderOfArrival) {
  ListMempool pool;
  for (const char* tx : {"c", "a", "b", ""}) EXPECT_TRUE(pool.Add(tx));
  EXPECT_THAT(pool.Reap(10), ElementsAre("c", "a", "b", ""));
  EXPECT_THAT(pool.Reap(2), ElementsAre("c", "a"));
  EXPECT_THAT(pool.Reap(0), IsEmpty());
}

TEST(ListMempoolTest, HasEachTransactionOnce) {
  ListMempool pool;
  EXPECT_TRUE(pool.Add("a"));
  EXPECT_FALSE(pool.Add("a"));
  EXPECT_EQ(pool.size(), 1u);
  EXPECT_TRUE(pool.Remove("a"));
  EXPECT_FALSE(pool.Remove("a"));
  EXPECT_TRUE(pool.Add("a"));
}

TEST(ListMempoolTest, WhatComesBackIsTheLast) {
  ListMempool pool;
  for (const char* tx : {"a", "b", "c"}) pool.Add(tx);
  EXPECT_TRUE(pool.Remove("b"));
  EXPECT_TRUE(pool.Remove("a"));
  pool.Add("a");
  EXPECT_THAT(pool.Reap(10), ElementsAre("c", "a"));
}

TEST(ListMempoolTest, RemovesByAViewOfItself) {
  ListMempool pool;
  for (const char* tx : {"a transaction that is longer than a short string", "b"}) pool.Add(tx);
  const std::vector<std::string_view> txs = pool.Reap(2);
  EXPECT_TRUE(pool.Remove(txs[0]));
  EXPECT_THAT(pool.Reap(10), ElementsAre("b"));
}

}  // namespace
}  // namespace blockreplay::replay
