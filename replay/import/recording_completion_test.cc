#include "replay/import/recording_completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "replay/import/test_feed.h"
#include "replay/recording/check.h"
#include "replay/recording/recording_writer.h"
#include "replay/recording/test_recording.h"
#include "replay/verify/results_hash.h"

namespace blockreplay::replay {
namespace {

using ::testing::HasSubstr;

const std::string kFixtures = BLOCKREPLAY_FIXTURES;
const std::string kGenesis = kFixtures + "/node-db/send-send/recording";
const std::string kTail = kFixtures + "/regression-tail/swaps-streaming-swaps-from-41";

// The blocks of a recording without what a completion finds out by itself.
std::vector<v1::Block> Stripped(const std::string& recording) {
  std::vector<v1::Block> blocks = ReadBlocks(recording);
  for (v1::Block& block : blocks) {
    block.clear_commit_info();
    block.clear_app_hash();
  }
  return blocks;
}

FeedSource SourceOf(const std::string& recording) {
  const Manifest manifest = *LoadManifest(recording);
  FeedSource source;
  source.kind = "test";
  source.chain_id = manifest.chain_id;
  source.application_name = manifest.application_name;
  source.application_version = manifest.application_version;
  if (!manifest.base) source.stores = manifest.stores;
  return source;
}

class RecordingCompletionTest : public ::testing::Test {
 protected:
  absl::StatusOr<CompletionResult> Complete(TestFeed feed, const std::string& base = "",
                                            bool verify = true) {
    CompletionOptions options;
    options.out = out();
    options.cache_mb = 32;
    options.threads = 1;
    options.verify = verify;
    std::unique_ptr<SnapshotBase> snapshot;
    if (!base.empty()) snapshot = *SnapshotBase::Open(base);
    NoObserver observer;
    return CompleteRecording(&feed, snapshot.get(), options, &observer);
  }
  std::string out() const { return dir_.Path("out"); }

  // Equal to the fixture, times of commits aside, and whole.
  void ExpectEqual(const std::string& recording) {
    const std::vector<v1::Block> expected = ReadBlocks(recording);
    const std::vector<v1::Block> actual = ReadBlocks(out());
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(actual[i].SerializeAsString(), expected[i].SerializeAsString())
          << "block " << expected[i].height();
    }
    const Manifest manifest = *LoadManifest(out());
    EXPECT_EQ(manifest.stores, LoadManifest(recording)->stores);
    EXPECT_TRUE(CheckRecording(out(), manifest, [](int64_t) {}).ok());
  }

  TemporaryDir dir_;
};

TEST_F(RecordingCompletionTest, CompletesFromGenesis) {
  const auto result = Complete(TestFeed(SourceOf(kGenesis), Stripped(kGenesis)));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->outcome, CompletionOutcome::kComplete) << result->mismatch;
  EXPECT_EQ(result->checks.app_hashes, 8);
  ExpectEqual(kGenesis);
}

TEST_F(RecordingCompletionTest, CompletesFromASnapshot) {
  const auto result = Complete(TestFeed(SourceOf(kTail), Stripped(kTail)), kTail + "/snapshot");
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->outcome, CompletionOutcome::kComplete) << result->mismatch;
  ExpectEqual(kTail);
  const Manifest manifest = *LoadManifest(out());
  EXPECT_EQ(manifest.base->app_hash, LoadManifest(kTail)->base->app_hash);
  EXPECT_EQ(manifest.document["origin"]["source"], "test");
  EXPECT_EQ(manifest.document["origin"]["verified"], true);
}

TEST_F(RecordingCompletionTest, CompletesATm2Chain) {
  const std::string gno = kFixtures + "/gno-sends-300";
  const auto result = Complete(TestFeed(SourceOf(gno), Stripped(gno)));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->outcome, CompletionOutcome::kComplete) << result->mismatch;
  const std::vector<v1::Block> expected = ReadBlocks(gno);
  const std::vector<v1::Block> actual = ReadBlocks(out());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(actual[i].app_hash(), expected[i].app_hash());
    for (int store = 0; store < expected[i].commit_info().store_infos_size(); ++store) {
      EXPECT_EQ(actual[i].commit_info().store_infos(store).SerializeAsString(),
                expected[i].commit_info().store_infos(store).SerializeAsString());
    }
  }
}

TEST_F(RecordingCompletionTest, LeavesNothingAfterAFalseWrite) {
  std::vector<v1::Block> blocks = ReadBlocks(kGenesis);
  auto* write = blocks[4].mutable_change_set(3);
  write->set_value(write->value() + "x");
  const auto result = Complete(TestFeed(SourceOf(kGenesis), blocks));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->outcome, CompletionOutcome::kAppHashMismatch);
  EXPECT_THAT(result->mismatch, HasSubstr("block 5"));
  EXPECT_THAT(result->mismatch, HasSubstr(write->store_key()));
  EXPECT_FALSE(std::filesystem::exists(out()));
}

TEST_F(RecordingCompletionTest, LeavesNothingAfterAFalseResponse) {
  std::vector<v1::Block> blocks = Stripped(kGenesis);
  (*blocks[6].mutable_response()->mutable_app_hash())[0] ^= 1;
  const auto result = Complete(TestFeed(SourceOf(kGenesis), blocks));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->outcome, CompletionOutcome::kAppHashMismatch);
  EXPECT_THAT(result->mismatch, HasSubstr("block 7"));
  EXPECT_FALSE(std::filesystem::exists(out()));
}

// The header after the last block is the only one here, and it must have been asked.
TEST_F(RecordingCompletionTest, ComparesWithTheNextHeader) {
  const std::vector<v1::Block> blocks = ReadBlocks(kGenesis);
  const v1::Block& last = blocks.back();
  const Sha256Digest results = ResultsHash(last.response());
  tendermint::types::Header header;
  header.set_height(last.height() + 1);
  header.set_app_hash(last.app_hash());
  header.set_last_results_hash(std::string(results.begin(), results.end()));
  for (const int falsified : {0, 1, 2}) {
    TestFeed feed(SourceOf(kGenesis), Stripped(kGenesis));
    feed.header_after_last = header;
    if (falsified == 1) (*feed.header_after_last->mutable_app_hash())[5] ^= 1;
    if (falsified == 2) (*feed.header_after_last->mutable_last_results_hash())[5] ^= 1;
    const auto result = Complete(std::move(feed));
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->outcome, falsified == 0   ? CompletionOutcome::kComplete
                               : falsified == 1 ? CompletionOutcome::kAppHashMismatch
                                                : CompletionOutcome::kResultsMismatch);
    EXPECT_EQ(std::filesystem::exists(out()), falsified == 0);
    if (falsified != 0) continue;
    EXPECT_EQ(result->checks.header_app_hashes, 1);
    EXPECT_EQ(result->checks.results_hashes, 1);
    std::filesystem::remove_all(out());
  }
}

TEST_F(RecordingCompletionTest, RefusesABaseOfAnotherHeight) {
  std::vector<v1::Block> blocks = Stripped(kTail);
  blocks.erase(blocks.begin());
  const auto result = Complete(TestFeed(SourceOf(kTail), blocks), kTail + "/snapshot");
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(result.status().message()), HasSubstr("a snapshot of height"));
}

TEST_F(RecordingCompletionTest, RefusesABlockWithoutAppHash) {
  std::vector<v1::Block> blocks = Stripped(kGenesis);
  blocks[3].mutable_response()->clear_app_hash();
  const auto result = Complete(TestFeed(SourceOf(kGenesis), blocks));
  EXPECT_EQ(result.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(result.status().message()), HasSubstr("block 4"));
  EXPECT_FALSE(std::filesystem::exists(out()));
}

TEST_F(RecordingCompletionTest, WithoutVerificationSaysSo) {
  std::vector<v1::Block> blocks = ReadBlocks(kGenesis);
  blocks[4].mutable_change_set(3)->set_value("false");
  const auto result = Complete(TestFeed(SourceOf(kGenesis), blocks), "", /*verify=*/false);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->outcome, CompletionOutcome::kComplete);
  EXPECT_EQ(LoadManifest(out())->document["origin"]["verified"], false);
}

}  // namespace
}  // namespace blockreplay::replay
