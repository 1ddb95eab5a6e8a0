#include "keeper/sdk/store.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "keeper/sdk/context.h"
#include "storage/kv/memory_engine.h"

namespace blockreplay::keeper::sdk {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

class StoreTest : public ::testing::Test {
 protected:
  StoreTest() {
    for (const auto& [key, value] :
         std::vector<std::pair<std::string, std::string>>{{"a", "1"}, {"c", "3"}, {"e", ""}}) {
      EXPECT_TRUE(engine_.Set(key, value).ok());
    }
  }

  static std::vector<std::pair<std::string, std::string>> All(
      const StoreBranch& store, const storage::KeyRange& range = {},
      storage::Direction direction = storage::Direction::kForward) {
    std::vector<std::pair<std::string, std::string>> entries;
    for (StoreIterator it = store.NewIterator(range, direction); it.Valid(); it.Next()) {
      entries.emplace_back(it.key(), it.value());
    }
    return entries;
  }

  storage::MemoryEngine engine_;
  ReaderStore base_{&engine_};
  MultiStore block_{std::vector<BaseStore*>{&base_}};
};

TEST_F(StoreTest, ReadsThroughBranches) {
  MultiStore tx(&block_);
  MultiStore inner(&tx);
  tx.store(0).Set("b", "2");
  inner.store(0).Delete("a");
  EXPECT_EQ(inner.store(0).Get("a"), std::nullopt);
  EXPECT_FALSE(inner.store(0).Has("a"));
  EXPECT_EQ(inner.store(0).Get("b"), "2");
  EXPECT_EQ(inner.store(0).Get("c"), "3");
  // An empty value is a value.
  EXPECT_EQ(inner.store(0).Get("e"), "");
  EXPECT_TRUE(inner.store(0).Has("e"));
  EXPECT_EQ(tx.store(0).Get("a"), "1");
}

TEST_F(StoreTest, IteratesOverAllLayersInBothDirections) {
  MultiStore tx(&block_);
  MultiStore inner(&tx);
  tx.store(0).Set("b", "2");
  tx.store(0).Set("c", "three");
  inner.store(0).Delete("a");
  inner.store(0).Set("d", "4");
  EXPECT_THAT(All(inner.store(0)),
              ElementsAre(Pair("b", "2"), Pair("c", "three"), Pair("d", "4"), Pair("e", "")));
  EXPECT_THAT(All(inner.store(0), {}, storage::Direction::kReverse),
              ElementsAre(Pair("e", ""), Pair("d", "4"), Pair("c", "three"), Pair("b", "2")));
  EXPECT_THAT(All(inner.store(0), {"b", "d"}), ElementsAre(Pair("b", "2"), Pair("c", "three")));
  EXPECT_THAT(All(tx.store(0), {"a", "c"}), ElementsAre(Pair("a", "1"), Pair("b", "2")));
}

TEST_F(StoreTest, DeletedKeysInARowAreSkippedEverywhere) {
  MultiStore tx(&block_);
  for (const char* key : {"a", "b", "c", "e"}) tx.store(0).Delete(key);
  EXPECT_THAT(All(tx.store(0)), IsEmpty());
  EXPECT_THAT(All(tx.store(0), {}, storage::Direction::kReverse), IsEmpty());
}

TEST_F(StoreTest, IteratorsDoNotSeeLaterWrites) {
  MultiStore tx(&block_);
  tx.store(0).Set("b", "2");
  StoreIterator it = tx.store(0).NewIterator({}, storage::Direction::kForward);
  tx.store(0).Delete("b");
  tx.store(0).Set("bb", "new");
  std::vector<std::string> keys;
  for (; it.Valid(); it.Next()) keys.emplace_back(it.key());
  EXPECT_THAT(keys, ElementsAre("a", "b", "c", "e"));
}

TEST_F(StoreTest, WriteMovesOperationsUpAndKeepsViewsValid) {
  std::optional<std::string_view> view;
  {
    MultiStore tx(&block_);
    tx.store(0).Set("a", "1");  // unchanged value: an operation all the same
    tx.store(0).Set("x", "y");
    tx.store(0).Delete("x");
    tx.store(0).Delete("absent");
    tx.store(0).Set("z", std::string(10000, 'z'));
    view = tx.store(0).Get("z");
    tx.Write();
    EXPECT_THAT(tx.store(0).operations(), IsEmpty());
  }
  EXPECT_EQ(view->size(), 10000u);
  EXPECT_EQ(view->back(), 'z');
  std::vector<std::pair<std::string, bool>> operations;
  for (const auto& [key, operation] : block_.store(0).operations()) {
    operations.emplace_back(key, operation.deleted);
  }
  EXPECT_THAT(operations, ElementsAre(Pair("a", false), Pair("absent", true), Pair("x", true),
                                      Pair("z", false)));
}

// Figures of cosmossdk.io/store v1.1, KVGasConfig.
TEST_F(StoreTest, EachAccessIsPaidFor) {
  GasMeter meter = GasMeter::Infinite();
  const KVStore store(&block_.store(0), &meter);
  auto cost = [&meter, before = Gas{0}]() mutable {
    return meter.consumed() - std::exchange(before, meter.consumed());
  };
  (void)store.Get("c");
  EXPECT_EQ(cost(), Gas{1000 + 3 * 2});
  (void)store.Get("absent");
  EXPECT_EQ(cost(), Gas{1000 + 3 * 6});
  (void)store.Has("absent");
  EXPECT_EQ(cost(), Gas{1000});
  store.Set("key", "value");
  EXPECT_EQ(cost(), Gas{2000 + 30 * 8});
  store.Delete("absent");
  EXPECT_EQ(cost(), Gas{1000});
  // The first element is paid for twice: when the iterator is made, and when it moves on.
  GasIterator it = store.Iterate({"a", "d"});
  EXPECT_EQ(cost(), Gas{30 + 3 * 2});
  it.Next();
  EXPECT_EQ(cost(), Gas{30 + 3 * 2});
  it.Next();
  EXPECT_EQ(cost(), Gas{30 + 3 * 2});
  EXPECT_FALSE(it.Valid());
  GasIterator empty = store.Iterate({"x", "y"});
  EXPECT_EQ(cost(), Gas{30});
  EXPECT_THROW(store.Set("", "value"), Panic);
}

TEST(GasMeterTest, StopsPastItsLimit) {
  GasMeter meter = GasMeter::Limited(10);
  meter.Consume(10, "all of it");
  EXPECT_TRUE(meter.IsOutOfGas());
  EXPECT_THROW(meter.Consume(1, "one more"), OutOfGas);
  EXPECT_EQ(meter.consumed(), 11u);
  EXPECT_EQ(meter.consumed_to_limit(), 10u);
  GasMeter infinite = GasMeter::Infinite();
  infinite.Consume(~uint64_t{0}, "nearly all");
  EXPECT_THROW(infinite.Consume(1, "overflow"), Panic);
  EXPECT_EQ(static_cast<int64_t>(infinite.limit()), -1);
}

TEST_F(StoreTest, CacheContextCommitsWritesAndEventsOrNeither) {
  GasMeter meter = GasMeter::Infinite();
  EventManager events;
  BlockInfo block;
  const Context context(&block, &block_, &meter, &events);
  {
    CacheContext cache(context);
    cache.context().kv(0).Set("k", "lost");
    cache.context().events().Emit(Event("lost"));
  }
  EXPECT_EQ(block_.store(0).Get("k"), std::nullopt);
  EXPECT_THAT(events.events(), IsEmpty());
  EXPECT_GT(meter.consumed(), 0u);
  {
    CacheContext cache(context);
    cache.context().kv(0).Set("k", "kept");
    cache.context().events().Emit(Event("kept"));
    cache.Commit();
  }
  EXPECT_EQ(block_.store(0).Get("k"), "kept");
  EXPECT_EQ(events.events().size(), 1u);
}

// What stamps are for: equal ones mean equal content, so whatever changes it must change them.
class RangeStampTest : public StoreTest {
 protected:
  RangeStamp StampOf(MultiStore& stores) const { return stores.store(0).StampOf(range_); }

  const storage::KeyRange range_ = storage::KeyRange::Prefix("n/");
};

TEST_F(RangeStampTest, IsTheSameForWhateverIsAboveTheSameContent) {
  const RangeStamp before = StampOf(block_);
  MultiStore tx(&block_);
  tx.store(0).Set("m", "1");
  tx.store(0).Delete("n0");
  EXPECT_EQ(StampOf(tx), before);
  EXPECT_EQ(StampOf(block_), before);
  tx.Write();
  EXPECT_EQ(StampOf(block_), before);
}

TEST_F(RangeStampTest, ChangesWithEachOperation) {
  std::vector<RangeStamp> stamps{StampOf(block_)};
  const auto expect_new = [&](MultiStore& stores) {
    const RangeStamp stamp = StampOf(stores);
    for (const RangeStamp& other : stamps) EXPECT_NE(stamp, other);
    stamps.push_back(stamp);
  };
  MultiStore tx(&block_);
  tx.store(0).Set("n/a", "1");
  expect_new(tx);
  tx.store(0).Set("n/a", "2");
  expect_new(tx);
  tx.store(0).Set("n/a", "");
  expect_new(tx);
  tx.store(0).Delete("n/a");
  expect_new(tx);
  MultiStore inner(&tx);
  inner.store(0).Set("n/a", "3");
  expect_new(inner);
  inner.Write();
  expect_new(tx);
  tx.Write();
  expect_new(block_);
}

TEST_F(RangeStampTest, ComesBackWithTheContent) {
  const RangeStamp before = StampOf(block_);
  MultiStore tx(&block_);
  tx.store(0).Set("n/a", "1");
  const RangeStamp written = StampOf(tx);
  {
    MultiStore inner(&tx);
    inner.store(0).Set("n/a", "2");
    EXPECT_NE(StampOf(inner), written);
  }
  EXPECT_EQ(StampOf(tx), written);
  tx.Discard();
  EXPECT_EQ(StampOf(tx), before);
}

TEST_F(RangeStampTest, IsNeverThatOfAnotherState) {
  const MultiStore other(std::vector<BaseStore*>{&base_});
  EXPECT_NE(other.store(0).StampOf(range_), StampOf(block_));
}

}  // namespace
}  // namespace blockreplay::keeper::sdk
