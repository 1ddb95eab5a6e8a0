#include "storage/branch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "storage/kv/memory_engine.h"
#include "storage/kv/test_util.h"

namespace blockreplay::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

class BranchTest : public ::testing::Test {
 protected:
  BranchTest() {
    for (const char* key : {"a", "c", "e"}) EXPECT_TRUE(base_.Set(key, "base").ok());
  }

  MemoryEngine base_;
};

TEST_F(BranchTest, DeleteHidesAndEmptyValueDoesNot) {
  Branch branch(&base_);
  ASSERT_TRUE(branch.Delete("c").ok());
  ASSERT_TRUE(branch.Set("e", "").ok());
  std::string value = "before";
  EXPECT_THAT(branch.Get("c", &value), IsOkAnd(false));
  EXPECT_EQ(value, "before");
  EXPECT_THAT(branch.Has("c"), IsOkAnd(false));
  EXPECT_THAT(branch.Get("e", &value), IsOkAnd(true));
  EXPECT_EQ(value, "");
  EXPECT_THAT(branch.Has("e"), IsOkAnd(true));
  EXPECT_THAT(Contents(branch), ElementsAre(Pair("a", "base"), Pair("e", "")));
  EXPECT_THAT(Contents(base_),
              ElementsAre(Pair("a", "base"), Pair("c", "base"), Pair("e", "base")));
}

TEST_F(BranchTest, PendingKeepsOperationsWithoutEffectInOrder) {
  Branch branch(&base_);
  ASSERT_TRUE(branch.Set("e", "base").ok());  // unchanged
  ASSERT_TRUE(branch.Delete("absent").ok());
  ASSERT_TRUE(branch.Set("b", "1").ok());
  ASSERT_TRUE(branch.Delete("b").ok());
  ASSERT_TRUE(branch.Delete("a").ok());
  ASSERT_TRUE(branch.Set("a", "2").ok());
  EXPECT_THAT(branch.pending(),
              ElementsAre(Pair("a", std::optional<std::string>("2")), Pair("absent", std::nullopt),
                          Pair("b", std::nullopt), Pair("e", std::optional<std::string>("base"))));
}

// Records what reaches it; fails at the operation of that number.
class RecordingStore : public Store {
 public:
  absl::StatusOr<bool> Get(std::string_view, std::string*) const override { return false; }
  absl::StatusOr<bool> Has(std::string_view) const override { return false; }
  std::unique_ptr<Iterator> NewIterator(const KeyRange&, Direction) const override {
    return nullptr;
  }
  absl::Status Set(std::string_view key, std::string_view value) override {
    return Record("set " + std::string(key) + "=" + std::string(value));
  }
  absl::Status Delete(std::string_view key) override {
    return Record("delete " + std::string(key));
  }

  std::vector<std::string> calls;
  size_t fail_at = SIZE_MAX;

 private:
  absl::Status Record(std::string call) {
    if (calls.size() == fail_at) return absl::DataLossError("broken");
    calls.push_back(std::move(call));
    return absl::OkStatus();
  }
};

TEST_F(BranchTest, FlushGoesInKeyOrderThenForgets) {
  Branch branch(&base_);
  ASSERT_TRUE(branch.Set("z", "1").ok());
  ASSERT_TRUE(branch.Delete("m").ok());
  ASSERT_TRUE(branch.Set("\xff", "2").ok());
  ASSERT_TRUE(branch.Set("", "3").ok());
  RecordingStore store;
  ASSERT_TRUE(branch.Flush(&store).ok());
  EXPECT_THAT(store.calls, ElementsAre("set =3", "delete m", "set z=1", "set \xff=2"));
  EXPECT_THAT(branch.pending(), IsEmpty());
}

TEST_F(BranchTest, FailedFlushKeepsOperations) {
  Branch branch(&base_);
  ASSERT_TRUE(branch.Set("x", "1").ok());
  ASSERT_TRUE(branch.Delete("y").ok());
  RecordingStore store;
  store.fail_at = 1;
  EXPECT_THAT(branch.Flush(&store), FailsWith(absl::StatusCode::kDataLoss, "broken"));
  EXPECT_EQ(branch.pending().size(), 2u);
}

TEST_F(BranchTest, IteratorDoesNotSeeWritesMadeWhileItLives) {
  Branch branch(&base_);
  ASSERT_TRUE(branch.Set("b", "pending").ok());
  Pairs seen;
  for (auto it = branch.NewIterator(KeyRange::All(), Direction::kForward); it->Valid();
       it->Next()) {
    const std::string_view key = it->key();
    const std::string_view value = it->value();
    ASSERT_TRUE(branch.Delete(key).ok());
    ASSERT_TRUE(branch.Set(std::string(key) + "+", "new").ok());
    ASSERT_TRUE(branch.Set("d", "new").ok());
    seen.emplace_back(key, value);  // still valid
  }
  EXPECT_THAT(seen, ElementsAre(Pair("a", "base"), Pair("b", "pending"), Pair("c", "base"),
                                Pair("e", "base")));
  EXPECT_THAT(Contents(branch), ElementsAre(Pair("a+", "new"), Pair("b+", "new"), Pair("c+", "new"),
                                            Pair("d", "new"), Pair("e+", "new")));
}

TEST_F(BranchTest, IteratorSurvivesFlushAndDiscard) {
  Branch lower(&base_);
  Branch upper(&lower);
  ASSERT_TRUE(lower.Set("b", "lower").ok());
  ASSERT_TRUE(upper.Delete("c").ok());
  const auto it = upper.NewIterator(KeyRange::All(), Direction::kReverse);
  ASSERT_TRUE(upper.Flush(&lower).ok());
  lower.Discard();
  EXPECT_THAT(Drain(*it), ElementsAre(Pair("e", "base"), Pair("b", "lower"), Pair("a", "base")));
  EXPECT_THAT(Contents(upper),
              ElementsAre(Pair("a", "base"), Pair("c", "base"), Pair("e", "base")));
}

// Fails after its first element.
class FailingIterator : public Iterator {
 public:
  bool Valid() const override { return !failed_; }
  void Next() override { failed_ = true; }
  std::string_view key() const override { return "a"; }
  std::string_view value() const override { return "v"; }
  absl::Status status() const override {
    return failed_ ? absl::DataLossError("bad block") : absl::OkStatus();
  }

 private:
  bool failed_ = false;
};

class FailingReader : public Reader {
 public:
  absl::StatusOr<bool> Get(std::string_view, std::string*) const override {
    return absl::DataLossError("bad block");
  }
  absl::StatusOr<bool> Has(std::string_view) const override {
    return absl::DataLossError("bad block");
  }
  std::unique_ptr<Iterator> NewIterator(const KeyRange&, Direction) const override {
    return std::make_unique<FailingIterator>();
  }
};

TEST_F(BranchTest, ErrorsOfTheParentComeThrough) {
  const FailingReader parent;
  Branch branch(&parent);
  ASSERT_TRUE(branch.Set("z", "pending").ok());
  std::string value;
  EXPECT_THAT(branch.Get("x", &value), FailsWith(absl::StatusCode::kDataLoss, "bad block"));
  EXPECT_THAT(branch.Has("x"), FailsWith(absl::StatusCode::kDataLoss, "bad block"));
  const auto it = branch.NewIterator(KeyRange::All(), Direction::kForward);
  ASSERT_TRUE(it->Valid());
  it->Next();
  EXPECT_FALSE(it->Valid()) << "must not go on to " << it->key();
  EXPECT_THAT(it->status(), FailsWith(absl::StatusCode::kDataLoss, "bad block"));
}

// A tower of branches over an engine against the same tower of plain maps.
class BranchPropertyTest : public ::testing::TestWithParam<uint64_t> {
 protected:
  using Model = std::map<std::string, std::optional<std::string>>;
  static constexpr size_t kDepth = 4;

  BranchPropertyTest() : random_(GetParam()) {
    for (size_t i = 0; i < 20; ++i) {
      const std::string key = RandomKey();
      EXPECT_TRUE(base_.Set(key, "base").ok());
      model_[0][key] = "base";
    }
    const Reader* parent = &base_;
    for (size_t i = 0; i < kDepth; ++i) {
      branches_.push_back(std::make_unique<Branch>(parent));
      parent = branches_.back().get();
    }
  }

  size_t Pick(size_t n) { return random_() % n; }
  std::string RandomKey() {
    std::string key(Pick(4), '\0');
    for (char& c : key) c = "\x00\x7f\x80\xff"[Pick(4)];
    return key;
  }
  KeyRange RandomRange() {
    KeyRange range;
    if (Pick(3) != 0) range.start = RandomKey();
    if (Pick(3) != 0) range.end = RandomKey();
    return range;
  }

  // The contents that level `depth` (0 is the engine) shows, by the model.
  std::map<std::string, std::string> Merged(size_t depth) const {
    std::map<std::string, std::string> merged;
    for (size_t i = 0; i <= depth; ++i) {
      for (const auto& [key, value] : model_[i]) {
        if (value) {
          merged[key] = *value;
        } else {
          merged.erase(key);
        }
      }
    }
    return merged;
  }
  Pairs Expected(size_t depth, const KeyRange& range, Direction direction) const {
    Pairs pairs;
    for (const auto& [key, value] : Merged(depth)) {
      if (range.Contains(key)) pairs.emplace_back(key, value);
    }
    if (direction == Direction::kReverse) std::reverse(pairs.begin(), pairs.end());
    return pairs;
  }

  // Writes to a random branch, or moves one's operations, in both worlds.
  void RandomWrite() {
    const size_t depth = 1 + Pick(kDepth);
    Branch& branch = *branches_[depth - 1];
    const std::string key = RandomKey();
    switch (Pick(20)) {
      case 0:
        branch.Discard();
        model_[depth].clear();
        return;
      case 1: {
        Store* into = depth == 1 ? static_cast<Store*>(&base_) : branches_[depth - 2].get();
        ASSERT_TRUE(branch.Flush(into).ok());
        for (const auto& [moved, value] : model_[depth]) {
          if (depth == 1 && !value) {
            model_[0].erase(moved);
          } else {
            model_[depth - 1][moved] = value;
          }
        }
        model_[depth].clear();
        return;
      }
      case 2:
        ASSERT_TRUE(branch.Set(key, "").ok());
        model_[depth][key] = "";
        return;
      default:
        if (Pick(2) == 0) {
          ASSERT_TRUE(branch.Delete(key).ok());
          model_[depth][key] = std::nullopt;
        } else {
          const std::string value = std::to_string(random_());
          ASSERT_TRUE(branch.Set(key, value).ok());
          model_[depth][key] = value;
        }
    }
  }

  std::mt19937_64 random_;
  MemoryEngine base_;
  std::vector<std::unique_ptr<Branch>> branches_;
  Model model_[kDepth + 1];
};

TEST_P(BranchPropertyTest, MatchesTheModel) {
  for (int round = 0; round < 400; ++round) {
    ASSERT_NO_FATAL_FAILURE(RandomWrite());
    for (size_t depth = 1; depth <= kDepth; ++depth) {
      const Branch& branch = *branches_[depth - 1];
      const auto merged = Merged(depth);
      const std::string key = RandomKey();
      const auto in_model = merged.find(key);
      std::string value;
      ASSERT_THAT(branch.Has(key), IsOkAnd(in_model != merged.end()));
      ASSERT_THAT(branch.Get(key, &value), IsOkAnd(in_model != merged.end()));
      if (in_model != merged.end()) {
        ASSERT_EQ(value, in_model->second);
      }
      const KeyRange range = RandomRange();
      for (const Direction direction : {Direction::kForward, Direction::kReverse}) {
        ASSERT_EQ(Drain(*branch.NewIterator(range, direction)), Expected(depth, range, direction));
      }
      ASSERT_TRUE(std::equal(
          branch.pending().begin(), branch.pending().end(), model_[depth].begin(),
          model_[depth].end(),
          [](const auto& a, const auto& b) { return a.first == b.first && a.second == b.second; }));
    }
  }
}

TEST_P(BranchPropertyTest, IteratorsMatchTheModelOfTheirBirth) {
  struct Live {
    std::unique_ptr<Iterator> it;
    Pairs expected;
    size_t position = 0;
  };
  std::vector<Live> live;
  for (int round = 0; round < 2000; ++round) {
    ASSERT_NO_FATAL_FAILURE(RandomWrite());
    if (live.size() < 8) {
      const size_t depth = 1 + Pick(kDepth);
      const KeyRange range = RandomRange();
      const Direction direction = Pick(2) == 0 ? Direction::kForward : Direction::kReverse;
      live.push_back(
          {branches_[depth - 1]->NewIterator(range, direction), Expected(depth, range, direction)});
    }
    Live& one = live[Pick(live.size())];
    if (one.position == one.expected.size()) {
      ASSERT_FALSE(one.it->Valid());
      ASSERT_TRUE(one.it->status().ok());
      std::swap(one, live.back());
      live.pop_back();
      continue;
    }
    ASSERT_TRUE(one.it->Valid());
    ASSERT_EQ(one.it->key(), one.expected[one.position].first);
    ASSERT_EQ(one.it->value(), one.expected[one.position].second);
    one.it->Next();
    ++one.position;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, BranchPropertyTest, ::testing::Range<uint64_t>(1, 9));

}  // namespace
}  // namespace blockreplay::storage
