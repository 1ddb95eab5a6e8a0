#include "replay/verify/block_verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/escaping.h"
#include "replay/recording/test_recording.h"
#include "replay/verify/printable.h"

namespace blockreplay::replay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// The recorded commit info as if we had computed it: what a right replay hands over.
storage::CommitInfo Computed(const v1::Block& block) {
  absl::StatusOr<storage::CommitInfo> info =
      storage::DecodeCommitInfo(block.commit_info().SerializeAsString());
  EXPECT_TRUE(info.ok()) << info.status();
  return *std::move(info);
}

std::string AppHashOf(const storage::CommitInfo& info) {
  const storage::Hash hash = storage::AppHash(info);
  return {hash.begin(), hash.end()};
}

std::optional<AppHashMismatch> Compare(const v1::Block& block, const storage::CommitInfo& actual) {
  return CompareAppHash(block, actual, AppHashOf(actual));
}

class BlockVerifierTest : public ::testing::Test {
 protected:
  const std::vector<v1::Block> blocks_ =
      ReadBlocks(std::string(BLOCKREPLAY_FIXTURES) + "/regression/noop-noop");
  v1::Block block_ = blocks_[1];
  storage::CommitInfo actual_ = Computed(block_);
};

TEST_F(BlockVerifierTest, RecordedBlocksEqualThemselves) {
  for (const v1::Block& block : blocks_) {
    EXPECT_EQ(Compare(block, Computed(block)), std::nullopt);
  }
}

TEST_F(BlockVerifierTest, AnotherRootOfOursIsFoundAndItsStoreNamed) {
  actual_.stores[2].hash[31] ^= 1;
  const std::optional<AppHashMismatch> mismatch = Compare(block_, actual_);
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(mismatch->kind, MismatchKind::kAppHash);
  EXPECT_EQ(mismatch->height, 2);
  EXPECT_EQ(mismatch->expected, block_.app_hash());
  EXPECT_EQ(mismatch->actual, AppHashOf(actual_));
  ASSERT_EQ(mismatch->stores.size(), 1u);
  EXPECT_EQ(mismatch->stores[0].store, actual_.stores[2].name);
  EXPECT_THAT(DescribeMismatch(*mismatch, block_),
              AllOf(HasSubstr("block 2: the app hash differs"), HasSubstr("    bank: expected "),
                    HasSubstr("    bank set 0x"), Not(HasSubstr("thorchain set")),
                    HasSubstr(absl::BytesToHexString(block_.app_hash()))));
}

TEST_F(BlockVerifierTest, AFalsifiedAppHashIsNotBlamedOnAStore) {
  block_.mutable_app_hash()->at(0) ^= 1;
  const std::optional<AppHashMismatch> mismatch = Compare(block_, actual_);
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(mismatch->kind, MismatchKind::kAppHash);
  EXPECT_TRUE(mismatch->stores.empty());
  EXPECT_THAT(DescribeMismatch(*mismatch, block_),
              HasSubstr("it is the recorded app hash that does not fit"));
}

TEST_F(BlockVerifierTest, AFalsifiedStoreRootIsFoundThoughTheAppHashIsEqual) {
  block_.mutable_commit_info()->mutable_store_infos(0)->mutable_commit_id()->mutable_hash()->at(
      0) ^= 1;
  const std::optional<AppHashMismatch> mismatch = Compare(block_, actual_);
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(mismatch->kind, MismatchKind::kStoreRoot);
  ASSERT_EQ(mismatch->stores.size(), 1u);
  EXPECT_EQ(mismatch->stores[0].store, "acc");
}

TEST_F(BlockVerifierTest, AStoreMoreOrLessIsFound) {
  block_.mutable_commit_info()->mutable_store_infos()->RemoveLast();
  std::optional<AppHashMismatch> mismatch = Compare(block_, actual_);
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(mismatch->kind, MismatchKind::kStoreRoot);
  EXPECT_EQ(mismatch->stores[0].store, "wasm");
  EXPECT_EQ(mismatch->stores[0].expected, "");
  EXPECT_THAT(DescribeMismatch(*mismatch, block_), HasSubstr("wasm: expected (absent)"));

  block_ = blocks_[1];
  cosmos::store::v1beta1::StoreInfo* extra = block_.mutable_commit_info()->add_store_infos();
  extra->set_name("zzz");
  extra->mutable_commit_id()->set_hash(std::string(32, 'x'));
  mismatch = Compare(block_, actual_);
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(mismatch->stores[0].store, "zzz");
  EXPECT_EQ(mismatch->stores[0].actual, "");
}

TEST_F(BlockVerifierTest, OrderOfRecordedStoresDoesNotMatter) {
  block_.mutable_commit_info()->mutable_store_infos()->SwapElements(0, 5);
  EXPECT_EQ(Compare(block_, actual_), std::nullopt);
}

TEST_F(BlockVerifierTest, TheResponseMustHaveTheSameAppHash) {
  block_.mutable_response()->mutable_app_hash()->at(0) ^= 1;
  EXPECT_EQ(Compare(block_, actual_)->kind, MismatchKind::kResponseAppHash);
  // A source without responses leaves it empty.
  block_.mutable_response()->clear_app_hash();
  EXPECT_EQ(Compare(block_, actual_), std::nullopt);
}

TEST_F(BlockVerifierTest, WithoutRecordedRootsTheBlocksKeysAreShown) {
  block_.clear_commit_info();
  EXPECT_EQ(Compare(block_, actual_), std::nullopt);
  actual_.stores[2].hash[0] ^= 1;
  const std::optional<AppHashMismatch> mismatch = Compare(block_, actual_);
  ASSERT_TRUE(mismatch);
  EXPECT_THAT(DescribeMismatch(*mismatch, block_),
              AllOf(HasSubstr("has no store roots"), HasSubstr("keys that the block wrote")));
}

TEST_F(BlockVerifierTest, HeadersSpeakOfTheBlockBefore) {
  v1::Block next = blocks_[2];
  EXPECT_EQ(CompareHeaderAppHash(next, "x"), std::nullopt);
  EXPECT_EQ(CompareResultsHash(next, 2, "x"), std::nullopt);
  next.mutable_header()->set_app_hash(block_.app_hash());
  next.mutable_header()->set_last_results_hash("results");
  EXPECT_EQ(CompareHeaderAppHash(next, block_.app_hash()), std::nullopt);
  EXPECT_EQ(CompareHeaderAppHash(next, "x")->height, 2);
  EXPECT_EQ(CompareResultsHash(next, 2, "results"), std::nullopt);
  const std::optional<ResultsMismatch> mismatch = CompareResultsHash(next, 2, "x");
  ASSERT_TRUE(mismatch);
  EXPECT_THAT(DescribeMismatch(*mismatch), AllOf(HasSubstr("block 2: the results hash differs"),
                                                 HasSubstr("header of block 3")));
}

TEST(Printable, NothingReachesATerminalThatItWouldActOn) {
  EXPECT_EQ(Printable("pool//BTC.BTC"), "\"pool//BTC.BTC\"");
  EXPECT_EQ(Printable(""), "0x");
  EXPECT_EQ(Printable("\x1b[31m"), "0x1b5b33316d");
  EXPECT_EQ(Printable("a\"b"), "0x612262");
  EXPECT_EQ(Printable("a\\b"), "0x615c62");
  EXPECT_EQ(Printable("\xc3\xa9"), "0xc3a9");
}

}  // namespace
}  // namespace blockreplay::replay
