// What every engine promises, tried on each of them against a plain map.

#include "storage/kv/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "storage/kv/memory_engine.h"
#include "storage/kv/rocksdb_engine.h"
#include "storage/kv/test_util.h"

namespace blockreplay::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

struct EngineParam {
  std::string name;
  std::function<std::unique_ptr<Engine>(const std::string& dir)> make;
};

class EngineTest : public ::testing::TestWithParam<EngineParam> {
 protected:
  void SetUp() override {
    engine_ = GetParam().make(dir_.path());
    ASSERT_NE(engine_, nullptr);
  }

  TempDir dir_;
  std::unique_ptr<Engine> engine_;
};

TEST_P(EngineTest, EmptyValueIsAValue) {
  ASSERT_TRUE(engine_->Set("k", "").ok());
  std::string value = "before";
  EXPECT_THAT(engine_->Get("k", &value), IsOkAnd(true));
  EXPECT_EQ(value, "");
  EXPECT_THAT(engine_->Has("k"), IsOkAnd(true));

  value = "before";
  EXPECT_THAT(engine_->Get("absent", &value), IsOkAnd(false));
  EXPECT_EQ(value, "before");
  EXPECT_THAT(engine_->Has("absent"), IsOkAnd(false));
}

TEST_P(EngineTest, EmptyKeyIsAKey) {
  ASSERT_TRUE(engine_->Set("", "v").ok());
  ASSERT_TRUE(engine_->Set("a", "w").ok());
  EXPECT_THAT(Contents(*engine_), ElementsAre(Pair("", "v"), Pair("a", "w")));
  ASSERT_TRUE(engine_->Delete("").ok());
  EXPECT_THAT(Contents(*engine_), ElementsAre(Pair("a", "w")));
}

TEST_P(EngineTest, KeysCompareAsUnsignedBytes) {
  for (const char* key : {"\x7f", "\x80", "\xff", "\x01", "\xff\x01"}) {
    ASSERT_TRUE(engine_->Set(key, "").ok());
  }
  EXPECT_THAT(Contents(*engine_), ElementsAre(Pair("\x01", ""), Pair("\x7f", ""), Pair("\x80", ""),
                                              Pair("\xff", ""), Pair("\xff\x01", "")));
}

TEST_P(EngineTest, LargeValueSurvives) {
  const std::string large(3 << 20, 'x');
  ASSERT_TRUE(engine_->Set("large", large).ok());
  std::string value;
  EXPECT_THAT(engine_->Get("large", &value), IsOkAnd(true));
  EXPECT_EQ(value, large);
}

TEST_P(EngineTest, BatchAppliesInOrder) {
  WriteBatch batch;
  batch.Put("a", "1");
  batch.Put("p/", "b", "2");
  batch.Delete("a");
  batch.Put("c", "3");
  batch.DeleteRange("c", "d");
  batch.Put("c", "4");
  batch.DeleteRange("z", "a");  // inverted: empty
  batch.Delete("p/", "absent");
  WriteBatch more;
  more.Put("d", "5");
  batch.Append(more);
  EXPECT_EQ(batch.count(), 9u);
  ASSERT_TRUE(engine_->Write(batch, Durability::kPowerLoss).ok());
  EXPECT_THAT(Contents(*engine_), ElementsAre(Pair("c", "4"), Pair("d", "5"), Pair("p/b", "2")));
}

TEST_P(EngineTest, IteratorReadsASnapshot) {
  for (const char* key : {"a", "b", "c"}) ASSERT_TRUE(engine_->Set(key, "old").ok());
  const auto forward = engine_->NewIterator(KeyRange::All(), Direction::kForward);
  const auto reverse = engine_->NewIterator(KeyRange::All(), Direction::kReverse);
  ASSERT_TRUE(forward->Valid());
  ASSERT_TRUE(engine_->Set("b", "new").ok());
  ASSERT_TRUE(engine_->Delete("c").ok());
  ASSERT_TRUE(engine_->Set("aa", "new").ok());
  EXPECT_THAT(Drain(*forward), ElementsAre(Pair("a", "old"), Pair("b", "old"), Pair("c", "old")));
  EXPECT_THAT(Drain(*reverse), ElementsAre(Pair("c", "old"), Pair("b", "old"), Pair("a", "old")));
  EXPECT_THAT(Contents(*engine_),
              ElementsAre(Pair("a", "old"), Pair("aa", "new"), Pair("b", "new")));
}

TEST_P(EngineTest, RandomOperationsMatchAMap) {
  std::mt19937_64 random(20250101);
  std::map<std::string, std::string> model;
  const auto pick = [&random](uint64_t n) { return random() % n; };
  const auto random_key = [&] {
    std::string key(pick(4), '\0');
    for (char& c : key) c = static_cast<char>("\x00\x01z\xff"[pick(4)]);
    return key;
  };
  for (int round = 0; round < 300; ++round) {
    WriteBatch batch;
    for (uint64_t i = 0, n = pick(8); i < n; ++i) {
      const std::string key = random_key();
      switch (pick(8)) {
        case 0: {
          const std::string end = random_key();
          batch.DeleteRange(key, end);
          if (key < end) model.erase(model.lower_bound(key), model.lower_bound(end));
          break;
        }
        case 1:
        case 2:
          batch.Delete(key);
          model.erase(key);
          break;
        default: {
          const std::string value = std::to_string(random());
          batch.Put(key, value);
          model[key] = value;
        }
      }
    }
    ASSERT_TRUE(engine_->Write(batch, Durability::kProcessCrash).ok());

    KeyRange range;
    if (pick(3) != 0) range.start = random_key();
    if (pick(3) != 0) range.end = random_key();
    std::vector<std::pair<std::string, std::string>> expected;
    for (const auto& [key, value] : model) {
      if (range.Contains(key)) expected.emplace_back(key, value);
    }
    ASSERT_EQ(Drain(*engine_->NewIterator(range, Direction::kForward)), expected);
    std::reverse(expected.begin(), expected.end());
    ASSERT_EQ(Drain(*engine_->NewIterator(range, Direction::kReverse)), expected);
    const std::string key = random_key();
    std::string value;
    ASSERT_THAT(engine_->Get(key, &value), IsOkAnd(model.contains(key)));
    if (model.contains(key)) {
      ASSERT_EQ(value, model[key]);
    }
    ASSERT_THAT(engine_->Has(key), IsOkAnd(model.contains(key)));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, EngineTest,
    ::testing::Values(
        EngineParam{"Memory", [](const std::string&) { return std::make_unique<MemoryEngine>(); }},
        EngineParam{"RocksDb",
                    [](const std::string& dir) -> std::unique_ptr<Engine> {
                      auto engine = RocksDbEngine::Open(dir + "/db", {});
                      EXPECT_TRUE(engine.ok()) << engine.status();
                      return engine.ok() ? std::move(*engine) : nullptr;
                    }}),
    [](const auto& param) { return param.param.name; });

TEST(KeyRangeTest, PrefixCoversExactlyItsKeys) {
  const KeyRange plain = KeyRange::Prefix("s/k:bank/");
  EXPECT_EQ(plain.start, "s/k:bank/");
  EXPECT_EQ(plain.end, "s/k:bank0");
  EXPECT_TRUE(plain.Contains("s/k:bank/"));
  EXPECT_TRUE(plain.Contains("s/k:bank/\xff\xff"));
  EXPECT_FALSE(plain.Contains("s/k:bank0"));
  EXPECT_FALSE(plain.Contains("s/k:bank"));

  EXPECT_EQ(KeyRange::Prefix("a\xff\xff").end, "b");
  EXPECT_EQ(KeyRange::Prefix("\xff\xff").end, std::nullopt);
  EXPECT_EQ(KeyRange::Prefix("").end, std::nullopt);
}

}  // namespace
}  // namespace blockreplay::storage
