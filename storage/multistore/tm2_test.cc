// A multistore with tm2's stores and records, against vectors of the real one.

#include <gtest/gtest.h>

#include <fstream>
#include <memory>

#include "absl/strings/escaping.h"
#include "absl/strings/str_split.h"
#include "nlohmann/json.hpp"
#include "storage/bptree/tree_kinds.h"
#include "storage/kv/memory_engine.h"
#include "storage/multistore/multistore.h"

namespace blockreplay::storage {
namespace {

nlohmann::json Vectors() {
  std::ifstream file(BLOCKREPLAY_FIXTURES "/gno/multistore_vectors.json");
  return nlohmann::json::parse(file);
}

class Tm2MultistoreTest : public testing::TestWithParam<Persistence> {
 protected:
  void Open(bool with_stores) {
    store_.reset();
    MultistoreOptions options;
    if (with_stores) {
      options.stores = {{.name = "base", .kind = bptree::RawStoreKind()},
                        {.name = "main", .kind = bptree::TreeStoreKind()}};
      options.format = CommitFormat::kTm2;
    }
    options.persistence = GetParam();
    options.flush_interval_blocks = 3;
    auto opened = Multistore::Open(&engine_, options);
    ASSERT_TRUE(opened.ok()) << opened.status();
    store_ = *std::move(opened);
  }

  void Apply(const nlohmann::json& operations, const std::string& name) {
    for (const std::string operation : operations) {
      const std::vector<std::string> parts = absl::StrSplit(operation, ':');
      ASSERT_TRUE(store_->store(name)
                      ->Set(absl::HexStringToBytes(parts[1]), absl::HexStringToBytes(parts[2]))
                      .ok());
    }
  }

  MemoryEngine engine_;
  std::unique_ptr<Multistore> store_;
};
INSTANTIATE_TEST_SUITE_P(Persistence, Tm2MultistoreTest,
                         testing::Values(Persistence::kEvery, Persistence::kDeferred),
                         [](const testing::TestParamInfo<Persistence>& mode) {
                           return mode.param == Persistence::kEvery ? "Every" : "Deferred";
                         });

TEST_P(Tm2MultistoreTest, ReproducesAppHashesAndRecords) {
  const nlohmann::json vectors = Vectors();
  Open(/*with_stores=*/true);
  int64_t version = 0;
  for (const auto& step : vectors.at("steps")) {
    ++version;
    Apply(step.at("main_ops"), "main");
    Apply(step.at("base_ops"), "base");
    const auto info = store_->WorkingCommit({});
    ASSERT_TRUE(info.ok()) << info.status();
    EXPECT_EQ(step.at("app_hash"), ToHex(AppHash(*info)));
    EXPECT_EQ(step.at("main_root"), ToHex(info->Find("main")->hash));
    ASSERT_TRUE(store_->Commit().ok());
    EXPECT_EQ(step.at("app_hash"), ToHex(store_->app_hash()));
    ASSERT_TRUE(store_->Sync().ok());
    // The order of the stores in the record is any: what the real one wrote reads as the same.
    const auto recorded = DecodeCommitInfo(
        absl::HexStringToBytes(step.at("commit_info_db_value").get<std::string>()));
    ASSERT_TRUE(recorded.ok()) << recorded.status();
    EXPECT_EQ(*recorded, *info);
    const auto stored = ReadCommitInfo(engine_, version);
    ASSERT_TRUE(stored.ok()) << stored.status();
    EXPECT_EQ(*stored, *info);
    if (GetParam() == Persistence::kEvery) {
      std::string latest;
      ASSERT_TRUE(*engine_.Get(kLatestKey, &latest));
      EXPECT_EQ(step.at("latest_db_value"), absl::BytesToHexString(latest));
      EXPECT_EQ(*ReadLatestVersion(engine_), version);
    }
    // Opened again, with and without being told of the stores: from the database, or from the
    // write-ahead log.
    if (version % 2 == 0) Open(version % 4 == 0);
    EXPECT_EQ(store_->version(), version);
    EXPECT_EQ(step.at("app_hash"), ToHex(store_->app_hash()));
    std::string header;
    ASSERT_TRUE(store_->store("base")->Get("last_header", &header).ok());
    if (version > 1) {
      EXPECT_EQ(header.size(), 4u);
    }
  }
  ASSERT_TRUE(store_->Close().ok());
  EXPECT_EQ(*ReadLatestVersion(engine_), 6);
  std::string header;
  EXPECT_TRUE(*engine_.Get("s/_/last_header", &header));
  EXPECT_FALSE(*engine_.Has("s/k:main/"));
}

TEST_P(Tm2MultistoreTest, RollsBack) {
  Open(/*with_stores=*/true);
  const auto write = [&](const std::string& value) {
    ASSERT_TRUE(store_->store("main")->Set("key", value).ok());
    ASSERT_TRUE(store_->store("base")->Set("last_header", value).ok());
    ASSERT_TRUE(store_->WorkingCommit({}).ok());
  };
  write("one");
  ASSERT_TRUE(store_->Commit().ok());
  const Hash one = store_->app_hash();
  write("two");
  ASSERT_TRUE(store_->Rollback().ok());
  std::string value;
  ASSERT_TRUE(*store_->store("main")->Get("key", &value));
  EXPECT_EQ(value, "one");
  ASSERT_TRUE(*store_->store("base")->Get("last_header", &value));
  EXPECT_EQ(value, "one");
  write("two");
  ASSERT_TRUE(store_->Commit().ok());
  EXPECT_NE(store_->app_hash(), one);
  ASSERT_TRUE(store_->Flush().ok());
  EXPECT_EQ(store_->version(), 2);
}

}  // namespace
}  // namespace blockreplay::storage
