#include "storage/kv/seek_compaction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/kv/rocksdb_engine.h"
#include "storage/kv/test_util.h"

namespace blockreplay::storage {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Found = SeekAllowances::Outcome::Found;

TEST(AllowedSeeksTest, IsOnePer16KiBButAtLeast100) {
  EXPECT_EQ(AllowedSeeks(0), 100);
  EXPECT_EQ(AllowedSeeks(100 * 16384 + 16383), 100);
  EXPECT_EQ(AllowedSeeks(101 * 16384), 101);
  EXPECT_EQ(AllowedSeeks(uint64_t{4} << 20), 256);
  EXPECT_EQ(AllowedSeeks(uint64_t{64} << 20), 4096);
}

constexpr SeekAllowances::Outcome kMemtable{Found::kMemtable, 0, false};
constexpr SeekAllowances::Outcome kNowhere{Found::kNowhere, 0, false};
constexpr SeekAllowances::Outcome kLevel0First{Found::kLevel, 0, false};
constexpr SeekAllowances::Outcome kLevel0Later{Found::kLevel, 0, true};
constexpr SeekAllowances::Outcome kLevel1{Found::kLevel, 1, false};
constexpr SeekAllowances::Outcome kLevel3{Found::kLevel, 3, false};

// Level 0, newest first: 12 [a, m], 11 [g, z]. Level 1: 5 [a, f], 6 [h, p]. Level 3: 2 [c, y].
std::vector<SeekAllowances::Table> Shape() {
  return {
      {2, 3, 64 << 20, "c", "y", 1}, {11, 0, 1000, "g", "z", 20}, {6, 1, 1000, "h", "p", 9},
      {12, 0, 1000, "a", "m", 30},   {5, 1, 1000, "a", "f", 8},
  };
}

class SeekAllowancesTest : public ::testing::Test {
 protected:
  SeekAllowancesTest() { allowances_.SetTables(Shape()); }

  // The table that a read charged; 0 for none. Fails if more than one seek went.
  uint64_t Charged() {
    uint64_t charged = 0;
    for (size_t i = 0; i < std::size(kNumbers); ++i) {
      const int64_t left = *allowances_.SeeksLeft(kNumbers[i]);
      if (left == left_[i]) continue;
      EXPECT_EQ(left, left_[i] - 1);
      EXPECT_EQ(charged, 0u);
      charged = kNumbers[i];
      left_[i] = left;
    }
    return charged;
  }
  uint64_t Get(const char* key, SeekAllowances::Outcome outcome) {
    EXPECT_EQ(allowances_.OnGet(key, outcome), std::nullopt);
    return Charged();
  }

  static constexpr uint64_t kNumbers[] = {2, 5, 6, 11, 12};
  int64_t left_[5] = {4096, 100, 100, 100, 100};
  SeekAllowances allowances_;
};

TEST_F(SeekAllowancesTest, MemtableHitsAreFree) { EXPECT_EQ(Get("h", kMemtable), 0u); }

TEST_F(SeekAllowancesTest, FirstTablePassedIsCharged) {
  EXPECT_EQ(Get("h", kNowhere), 12u);
  EXPECT_EQ(Get("h", kLevel3), 12u);
  EXPECT_EQ(Get("h", kLevel1), 12u);
  EXPECT_EQ(Get("n", kLevel1), 11u);
  EXPECT_EQ(Get("b", kLevel1), 12u);
  EXPECT_EQ(Get("q", kLevel3), 11u);
}

TEST_F(SeekAllowancesTest, BoundsBelongToTheTable) {
  EXPECT_EQ(Get("m", kNowhere), 12u);
  EXPECT_EQ(Get("m\x01", kNowhere), 11u);
  EXPECT_EQ(Get("p", kNowhere), 11u);
  EXPECT_EQ(Get("a", kNowhere), 12u);
}

TEST_F(SeekAllowancesTest, FoundInTheFirstTableIsFree) {
  EXPECT_EQ(Get("h", kLevel0First), 0u);
  EXPECT_EQ(Get("h", kLevel0Later), 12u);
}

TEST_F(SeekAllowancesTest, OneTableAloneIsFree) {
  EXPECT_EQ(Get("z", kNowhere), 0u);   // 11 only
  EXPECT_EQ(Get("A", kNowhere), 0u);   // none
  EXPECT_EQ(Get("zz", kNowhere), 0u);  // none
}

TEST_F(SeekAllowancesTest, BelowLevel0) {
  std::vector<SeekAllowances::Table> shape = Shape();
  std::erase_if(shape, [](const auto& table) { return table.level == 0; });
  allowances_.SetTables(shape);
  EXPECT_EQ(allowances_.OnGet("d", kLevel1), std::nullopt);
  EXPECT_EQ(allowances_.SeeksLeft(5), 100);
  EXPECT_EQ(allowances_.OnGet("d", kLevel3), std::nullopt);
  EXPECT_EQ(allowances_.SeeksLeft(5), 99);
  EXPECT_EQ(allowances_.OnGet("i", kNowhere), std::nullopt);
  EXPECT_EQ(allowances_.SeeksLeft(6), 99);
  EXPECT_EQ(allowances_.OnGet("g", kNowhere), std::nullopt);  // between 5 and 6: 2 only
  EXPECT_EQ(allowances_.SeeksLeft(2), 4096);
}

TEST_F(SeekAllowancesTest, IteratorSamplesChargeLikeMisses) {
  EXPECT_EQ(allowances_.OnIteratorSample("h"), std::nullopt);
  EXPECT_EQ(Charged(), 12u);
  EXPECT_EQ(allowances_.OnIteratorSample("z"), std::nullopt);
  EXPECT_EQ(Charged(), 0u);
}

TEST_F(SeekAllowancesTest, LastSeekNamesTheTable) {
  for (int i = 0; i < 99; ++i) ASSERT_EQ(allowances_.OnGet("n", kNowhere), std::nullopt) << i;
  EXPECT_EQ(allowances_.OnGet("n", kNowhere), 11u);
  EXPECT_EQ(allowances_.OnGet("n", kNowhere), 11u);  // again, in case it was busy
}

TEST_F(SeekAllowancesTest, CountsSurviveAChangeOfShape) {
  for (int i = 0; i < 10; ++i) allowances_.OnGet("n", kNowhere);
  for (int i = 0; i < 20; ++i) allowances_.OnGet("b", kNowhere);
  std::vector<SeekAllowances::Table> shape = Shape();
  shape[3].level = 2;                            // 12 moved: a new allowance
  shape.push_back({13, 0, 1000, "a", "z", 40});  // a new one
  std::erase_if(shape, [](const auto& table) { return table.number == 6; });
  allowances_.SetTables(shape);
  EXPECT_EQ(allowances_.SeeksLeft(11), 90);
  EXPECT_EQ(allowances_.SeeksLeft(12), 100);
  EXPECT_EQ(allowances_.SeeksLeft(13), 100);
  EXPECT_EQ(allowances_.SeeksLeft(6), std::nullopt);
}

TEST_F(SeekAllowancesTest, OutputGoesToTheNextUsedLevel) {
  EXPECT_EQ(allowances_.OutputLevel(12, 6), 1);
  EXPECT_EQ(allowances_.OutputLevel(5, 6), 3);
  EXPECT_EQ(allowances_.OutputLevel(2, 6), 6);
  EXPECT_EQ(allowances_.OutputLevel(99, 6), std::nullopt);
}

// A database whose shape we know: even keys in one table of the last level, and whatever else a
// test puts above. All tables are small: 100 seeks each.
class SeekCompactionTest : public ::testing::TestWithParam<bool> {
 protected:
  static constexpr int kKeys = 2000;

  void SetUp() override {
    RocksDbOptions options;
    options.seek_compaction = GetParam();
    options.memory_budget_bytes = 256 << 20;  // no flush but those of the tests
    options.memtable_bytes = 64 << 20;
    auto engine = RocksDbEngine::Open(dir_.path() + "/db", options);
    ASSERT_TRUE(engine.ok()) << engine.status();
    engine_ = std::move(*engine);
    for (int i = 0; i < kKeys; i += 2) Set(i, "last");
    ASSERT_TRUE(engine_->CompactAll().ok());
    ASSERT_EQ(engine_->stats().level0_files, 0u);
  }

  static std::string Key(int i) {
    char key[16];
    std::snprintf(key, sizeof(key), "key%06d", i);
    return key;
  }
  void Set(int i, const std::string& value) { ASSERT_TRUE(engine_->Set(Key(i), value).ok()); }
  // A table of level 0 that covers all keys, with every fourth of them, from `first`.
  void AddLevel0Table(int first, const std::string& value) {
    Set(-1, "");
    for (int i = first; i < kKeys; i += 4) Set(i, value);
    Set(kKeys, "");
    ASSERT_TRUE(engine_->Flush().ok());
  }
  void Read(int i, std::optional<std::string> expected) {
    std::string value;
    ASSERT_THAT(engine_->Get(Key(i), &value), IsOkAnd(expected.has_value()));
    if (expected) {
      ASSERT_EQ(value, *expected);
    }
    ASSERT_THAT(engine_->Has(Key(i)), IsOkAnd(expected.has_value()));  // a second read
  }
  // Seek compactions so far.
  uint64_t Compactions() {
    EXPECT_TRUE(engine_->WaitForBackgroundWork().ok());
    return engine_->stats().seek_compactions;
  }
  uint64_t Level0Tables() { return engine_->stats().level0_files; }
  bool on() const { return GetParam(); }

  TempDir dir_;
  std::unique_ptr<RocksDbEngine> engine_;
};

TEST_P(SeekCompactionTest, PassingALevel0TableUsesItUp) {
  AddLevel0Table(1, "upper");
  for (int i = 0; i < 49; ++i) Read(2 * i, "last");  // two reads each
  std::string value;
  ASSERT_THAT(engine_->Get(Key(0), &value), IsOkAnd(true));
  EXPECT_EQ(Compactions(), 0u);
  EXPECT_EQ(Level0Tables(), 1u);
  ASSERT_THAT(engine_->Get(Key(0), &value), IsOkAnd(true));  // the hundredth
  EXPECT_EQ(Compactions(), on() ? 1u : 0u);
  EXPECT_EQ(Level0Tables(), on() ? 0u : 1u);
  const Engine::Stats stats = engine_->stats();
  EXPECT_EQ(stats.compaction_bytes > 0, true);
  // All in one table now: nothing more to charge.
  for (int i = 0; i < 1000; ++i) Read(2 * (i % 1000), "last");
  EXPECT_EQ(Compactions(), on() ? 1u : 0u);
  for (int i = 0; i < kKeys; ++i) {
    Read(i, i % 2 == 0   ? std::optional("last")
            : i % 4 == 1 ? std::optional("upper")
                         : std::nullopt);
  }
}

TEST_P(SeekCompactionTest, AbsentKeysUseItUp) {
  AddLevel0Table(1, "upper");
  for (int i = 0; i < 50; ++i) Read(4 * i + 3, std::nullopt);
  EXPECT_EQ(Compactions(), on() ? 1u : 0u);
}

TEST_P(SeekCompactionTest, KeysOfTheFirstTableAreFree) {
  AddLevel0Table(0, "upper");
  for (int i = 0; i < 1000; ++i) Read(4 * (i % 500), "upper");
  EXPECT_EQ(Compactions(), 0u);
}

TEST_P(SeekCompactionTest, TombstonesOfTheFirstTableAreFree) {
  Set(-1, "");
  for (int i = 0; i < kKeys; i += 4) ASSERT_TRUE(engine_->Delete(Key(i)).ok());
  ASSERT_TRUE(engine_->Flush().ok());
  for (int i = 0; i < 1000; ++i) Read(4 * (i % 500), std::nullopt);
  EXPECT_EQ(Compactions(), 0u);
  EXPECT_EQ(Level0Tables(), 1u);
}

TEST_P(SeekCompactionTest, MemtableHitsAreFree) {
  AddLevel0Table(1, "upper");
  Set(0, "memtable");
  ASSERT_TRUE(engine_->Delete(Key(2)).ok());
  for (int i = 0; i < 500; ++i) {
    Read(0, "memtable");
    Read(2, std::nullopt);
  }
  EXPECT_EQ(Compactions(), 0u);
  EXPECT_EQ(Level0Tables(), 1u);
}

TEST_P(SeekCompactionTest, OlderLevel0TableChargesTheNewer) {
  AddLevel0Table(1, "older");
  AddLevel0Table(3, "newer");
  for (int i = 0; i < 500; ++i) Read(4 * i + 3, "newer");
  EXPECT_EQ(Compactions(), 0u);
  for (int i = 0; i < 50; ++i) Read(4 * i + 1, "older");
  EXPECT_EQ(Compactions(), on() ? 1u : 0u);
  EXPECT_EQ(Level0Tables(), on() ? 0u : 2u);  // a newer one cannot go below an older one alone
}

TEST_P(SeekCompactionTest, IteratorsSampleTheirKeys) {
  Set(-1, "");
  for (int i = 1; i < 200; i += 2) Set(i, std::string(1 << 18, 'v'));
  Set(kKeys, "");
  ASSERT_TRUE(engine_->Flush().ok());
  // 25 MiB a pass; 1 sample per MiB on average. The table's allowance is 25 MiB / 16 KiB.
  ASSERT_EQ(Level0Tables(), 1u);
  int passes = 0;
  while (passes < 120 && Compactions() == 0) {
    const auto it = engine_->NewIterator(
        KeyRange::All(), passes % 2 == 0 ? Direction::kForward : Direction::kReverse);
    while (it->Valid()) it->Next();
    ASSERT_TRUE(it->status().ok());
    ++passes;
  }
  EXPECT_EQ(Compactions(), on() ? 1u : 0u);
  if (on()) {
    EXPECT_GT(passes, 1600 / 25 / 2);
    EXPECT_LT(passes, 1600 / 25 * 3 / 2);
  }
}

TEST_P(SeekCompactionTest, DescriptionSaysWhatWasVerified) {
  EXPECT_THAT(engine_->SeekCompactionDescription(), StartsWith(on() ? "on (" : "off ("));
  EXPECT_THAT(engine_->SeekCompactionDescription(), HasSubstr("RocksDB "));
}

TEST_P(SeekCompactionTest, ClosingWithACompactionDueIsClean) {
  AddLevel0Table(1, "upper");
  for (int i = 0; i < 50; ++i) Read(2 * i, "last");
  engine_.reset();
  RocksDbOptions options;
  options.create_if_missing = false;
  auto engine = RocksDbEngine::Open(dir_.path() + "/db", options);
  ASSERT_TRUE(engine.ok()) << engine.status();
  EXPECT_EQ(Contents(**engine).size(), 2u + kKeys * 3 / 4);
}

INSTANTIATE_TEST_SUITE_P(OnOff, SeekCompactionTest, ::testing::Bool(),
                         [](const auto& param) { return param.param ? "On" : "Off"; });

}  // namespace
}  // namespace blockreplay::storage
