#include "storage/multistore/version_changes.h"

#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/kv/memory_engine.h"
#include "storage/multistore/multistore.h"
#include "storage/multistore/test_util.h"
#include "storage/multistore/view.h"

namespace blockreplay::storage {
namespace {

using ::testing::HasSubstr;

using Change = std::tuple<std::string, std::string, std::optional<std::string>>;

// Counts Gets by key.
class CountingReader final : public Reader {
 public:
  explicit CountingReader(const Reader* db) : db_(db) {}
  absl::StatusOr<bool> Get(std::string_view key, std::string* value) const override {
    ++gets[std::string(key)];
    return db_->Get(key, value);
  }
  absl::StatusOr<bool> Has(std::string_view key) const override { return db_->Has(key); }
  std::unique_ptr<Iterator> NewIterator(const KeyRange& range, Direction direction) const override {
    return db_->NewIterator(range, direction);
  }
  mutable std::map<std::string, int> gets;

 private:
  const Reader* const db_;
};

class VersionChangesTest : public ::testing::Test {
 protected:
  static constexpr int64_t kVersions = 60;

  // Versions in which keys come, go, are set again to what they were, and in which stores rest, are
  // emptied and filled again.
  void SetUp() override {
    MultistoreOptions options;
    options.stores = {{"a"}, {"b"}, {"rests"}};
    options.persistence = Persistence::kEvery;
    auto opened = Multistore::Open(&db_, options);
    ASSERT_STATUS_OK(opened.status());
    Multistore* const stores = opened->get();
    std::mt19937 random(7);
    for (int64_t version = 1; version <= kVersions; ++version) {
      for (const char* name : {"a", "b"}) {
        Store* const store = stores->store(name);
        const int keys = name[0] == 'a' ? 400 : 12;
        for (unsigned i = 0; i < 10 + random() % 20; ++i) {
          const std::string key = "key" + std::to_string(random() % static_cast<unsigned>(keys));
          switch (random() % 4) {
            case 0:
              ASSERT_STATUS_OK(store->Delete(key));
              break;
            case 1: {
              std::string value;
              const auto found = store->Get(key, &value);
              ASSERT_STATUS_OK(found.status());
              if (*found) ASSERT_STATUS_OK(store->Set(key, value));
              break;
            }
            default:
              ASSERT_STATUS_OK(store->Set(key, std::to_string(random())));
          }
        }
        if (name[0] == 'b' && version % 13 == 0) {
          for (int i = 0; i < keys; ++i) {
            ASSERT_STATUS_OK(store->Delete("key" + std::to_string(i)));
          }
        }
      }
      if (version == 1 || version == 30) ASSERT_STATUS_OK(stores->store("rests")->Set("x", "y"));
      ASSERT_STATUS_OK(stores->WorkingCommit({}).status());
      ASSERT_STATUS_OK(stores->Commit());
    }
    ASSERT_STATUS_OK(stores->Close());
  }

  CommitInfo Info(int64_t version) const { return ReadCommitInfo(db_, version).value(); }

  // From two views, read whole.
  std::vector<Change> Expected(int64_t version) {
    std::vector<Change> changes;
    auto before = MultistoreView::Open(&db_, version - 1).value();
    auto after = MultistoreView::Open(&db_, version).value();
    for (const StoreInfo& store : after->commit_info().stores) {
      EXPECT_TRUE(iavl::DiffLeaves(*before->store(store.name).value(),
                                   *after->store(store.name).value(),
                                   [&](std::string_view key, std::optional<std::string_view>,
                                       std::optional<std::string_view> value) {
                                     changes.emplace_back(store.name, key, value);
                                     return absl::OkStatus();
                                   })
                      .ok());
    }
    return changes;
  }
  static absl::StatusOr<std::vector<Change>> Advance(VersionChanges* changes, CommitInfo info) {
    std::vector<Change> seen;
    const absl::Status status = changes->Advance(
        std::move(info),
        [&](const std::string& store, std::string_view key, std::optional<std::string_view> value) {
          seen.emplace_back(store, key, value);
          return absl::OkStatus();
        });
    if (!status.ok()) return status;
    return seen;
  }

  MemoryEngine db_;
};

TEST_F(VersionChangesTest, AreTheDifferencesOfTheTreesWhateverIsKept) {
  for (const size_t memory : {size_t{0}, size_t{20'000}, size_t{64} << 20}) {
    for (const int64_t first : {1, 37}) {
      VersionChanges changes(&db_, Info(first), memory);
      size_t count = 0;
      for (int64_t version = first + 1; version <= kVersions; ++version) {
        const auto seen = Advance(&changes, Info(version));
        ASSERT_STATUS_OK(seen.status());
        EXPECT_TRUE(*seen == Expected(version)) << version << " " << memory;
        EXPECT_EQ(changes.info().version, version);
        count += seen->size();
      }
      EXPECT_GT(count, 100u);
    }
  }
}

TEST_F(VersionChangesTest, BeginWithEverythingWhereTheChainDoes) {
  VersionChanges changes(&db_, CommitInfo{}, size_t{1} << 20);
  const auto first = Advance(&changes, Info(1));
  ASSERT_STATUS_OK(first.status());
  std::vector<Change> expected;
  auto view = MultistoreView::Open(&db_, 1).value();
  for (const std::string name : {"a", "b", "rests"}) {
    const auto it = view->store(name).value()->NewIterator(KeyRange::All(), Direction::kForward);
    for (; it->Valid(); it->Next()) {
      expected.emplace_back(name, it->key(), std::string(it->value()));
    }
  }
  EXPECT_TRUE(*first == expected);
  const auto second = Advance(&changes, Info(2));
  ASSERT_STATUS_OK(second.status());
  EXPECT_TRUE(*second == Expected(2));
}

// But for a few that rotations put elsewhere.
TEST_F(VersionChangesTest, HardlyReadANodeTwiceWhileThereIsMemory) {
  const auto repeated = [&](size_t memory) {
    const CountingReader counting(&db_);
    VersionChanges changes(&counting, Info(1), memory);
    for (int64_t version = 2; version <= kVersions; ++version) {
      EXPECT_TRUE(Advance(&changes, Info(version)).ok());
    }
    int again = 0;
    for (const auto& [key, gets] : counting.gets) {
      // Roots are looked for before they are read.
      if (!key.ends_with(std::string_view("\0\0\0\1", 4))) again += gets - 1;
    }
    return again;
  };
  const int without = repeated(0);
  EXPECT_GT(without, 200);
  EXPECT_LT(repeated(size_t{64} << 20) * 5, without);
}

TEST_F(VersionChangesTest, AreRefusedWhereACommitInfoHasAnotherRoot) {
  for (const int64_t wrong : {10, 11}) {
    CommitInfo infos[] = {Info(10), Info(11)};
    infos[wrong - 10].stores[0].hash[0] ^= 1;
    VersionChanges changes(&db_, infos[0], size_t{1} << 20);
    const auto seen = Advance(&changes, infos[1]);
    EXPECT_TRUE(absl::IsDataLoss(seen.status())) << seen.status();
    EXPECT_THAT(seen.status().message(), HasSubstr("store a, version 11: the tree's hash is"));
  }
  VersionChanges changes(&db_, Info(10), size_t{1} << 20);
  CommitInfo beyond = Info(11);
  beyond.version = kVersions + 1;
  EXPECT_TRUE(absl::IsNotFound(Advance(&changes, beyond).status()));
}

}  // namespace
}  // namespace blockreplay::storage
