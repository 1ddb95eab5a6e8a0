// The two stores of a gno.land node over one database, committed as tm2's multistore does: roots,
// app hashes and the records of each version against those of the real one.

#include <gtest/gtest.h>

#include "absl/strings/str_split.h"
#include "storage/bptree/commit_info.h"
#include "storage/bptree/test_support.h"
#include "storage/bptree/tree_kinds.h"
#include "storage/kv/memory_engine.h"

namespace blockreplay::storage::bptree {
namespace {

void Apply(const nlohmann::json& operations, CommitTree* store) {
  for (const std::string operation : operations) {
    const std::vector<std::string> parts = absl::StrSplit(operation, ':');
    ASSERT_EQ(parts[0], "s");
    ASSERT_TRUE(store->Set(Unhex(parts[1]), Unhex(parts[2])).ok());
  }
}

class MultistoreVectorsTest : public testing::TestWithParam<Persistence> {
 protected:
  void Open(int64_t version) {
    const TreeKind::Settings settings{.persistence = GetParam(), .fast_nodes = true};
    WriteBatch batch;
    auto main = TreeStoreKind()->Load(&engine_, "main", settings, version, false, &batch);
    ASSERT_TRUE(main.ok()) << main.status();
    main_ = *std::move(main);
    auto base = RawStoreKind()->Load(&engine_, "base", settings, version, false, &batch);
    ASSERT_TRUE(base.ok()) << base.status();
    base_ = *std::move(base);
  }

  MemoryEngine engine_;
  std::unique_ptr<CommitTree> main_;
  std::unique_ptr<CommitTree> base_;
};
INSTANTIATE_TEST_SUITE_P(Persistence, MultistoreVectorsTest,
                         testing::Values(Persistence::kEvery, Persistence::kDeferred),
                         [](const testing::TestParamInfo<Persistence>& mode) {
                           return mode.param == Persistence::kEvery ? "Every" : "Deferred";
                         });

TEST_P(MultistoreVectorsTest, ReproducesHashesAndRecords) {
  const nlohmann::json vectors = ReadFixture("multistore_vectors.json");
  ASSERT_EQ(vectors.at("steps").size(), 6u);
  Open(0);
  int64_t version = 0;
  for (const auto& step : vectors.at("steps")) {
    ++version;
    Apply(step.at("main_ops"), main_.get());
    Apply(step.at("base_ops"), base_.get());
    WriteBatch batch;
    const auto root = main_->Commit(&batch);
    ASSERT_TRUE(root.ok());
    ASSERT_TRUE(base_->Commit(&batch).ok());
    EXPECT_EQ(step.at("main_root"), Hex(*root));
    const CommittedVersion commit{.version = version,
                                  .stores = {{"main", *root}, {"base", std::nullopt}}};
    EXPECT_EQ(step.at("app_hash"), Hex(AppHash(commit.stores)));
    EXPECT_EQ(AppHash({{"base", std::nullopt}, {"main", *root}}), AppHash(commit.stores));
    EXPECT_EQ(step.at("commit_info_db_value"), Hex(EncodeCommit(commit)));
    EXPECT_EQ(step.at("latest_db_value"), Hex(EncodeLatest(version)));
    const auto decoded = DecodeCommit(EncodeCommit(commit));
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(*decoded, commit);
    const auto latest = DecodeLatest(EncodeLatest(version));
    ASSERT_TRUE(latest.ok());
    EXPECT_EQ(*latest, version);
    ASSERT_TRUE(main_->Flush(&batch).ok());
    ASSERT_TRUE(base_->Flush(&batch).ok());
    ASSERT_TRUE(engine_.Write(batch, Durability::kProcessCrash).ok());
    std::string value;
    ASSERT_TRUE(base_->Get("last_header", &value).ok());
    if (version > 1) {
      // Base keys are the database's below the prefix, as they are.
      std::string stored;
      ASSERT_TRUE(*engine_.Get("s/_/last_header", &stored));
      EXPECT_EQ(stored, value);
    }
    if (version % 2 == 0) Open(version);
    EXPECT_EQ(step.at("main_root"), Hex(main_->hash()));
  }
}

TEST_P(MultistoreVectorsTest, ABaseStoreKeepsItsWritesUntilTheBatchIsWritten) {
  Open(0);
  ASSERT_TRUE(base_->Set("a", "1").ok());
  ASSERT_TRUE(base_->Set("b", "2").ok());
  ASSERT_TRUE(base_->Rollback().ok());
  EXPECT_FALSE(*base_->Has("a"));
  ASSERT_TRUE(base_->Set("a", "1").ok());
  ASSERT_TRUE(base_->Set("c", "").ok());
  WriteBatch batch;
  ASSERT_TRUE(base_->Commit(&batch).ok());
  ASSERT_TRUE(base_->Flush(&batch).ok());
  std::string value;
  EXPECT_TRUE(*base_->Get("a", &value));  // not in the database yet
  ASSERT_TRUE(engine_.Write(batch, Durability::kProcessCrash).ok());
  base_->Trim(0);
  EXPECT_TRUE(*base_->Get("a", &value));
  EXPECT_TRUE(*base_->Has("c"));
  EXPECT_EQ(base_->memory_bytes(), 0u);
  ASSERT_TRUE(base_->Delete("a").ok());
  ASSERT_TRUE(base_->Set("b", "3").ok());
  std::string keys;
  for (auto it = base_->NewIterator(KeyRange::All(), Direction::kReverse); it->Valid(); it->Next())
    keys.append(it->key());
  EXPECT_EQ(keys, "cb");
}

TEST(CommitInfoTest, RefusesWhatAminoRefuses) {
  const std::string good = EncodeCommit({.version = 7, .stores = {{"main", Hash{1}}}});
  EXPECT_TRUE(DecodeCommit(good).ok());
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(DecodeCommit(good.substr(0, size)).ok()) << size;
  EXPECT_FALSE(DecodeCommit(good + "x").ok());
  std::string other_version = good;
  other_version[2] = 2;
  EXPECT_FALSE(DecodeCommit(other_version).ok());
  EXPECT_FALSE(DecodeLatest("").ok());
  EXPECT_FALSE(DecodeLatest(std::string("\x02\x08\x01", 3)).ok());  // negative
}

}  // namespace
}  // namespace blockreplay::storage::bptree
