#include "replay/import/joined_feed.h"

#include <filesystem>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "replay/import/recording_completion.h"
#include "replay/import/test_feed.h"
#include "replay/import/test_rpc.h"
#include "replay/recording/check.h"
#include "replay/recording/test_recording.h"

namespace blockreplay::replay {
namespace {

using ::testing::HasSubstr;

const std::string kFixtures = BLOCKREPLAY_FIXTURES;
// Nine blocks of a small SDK 0.47 application, in three formats.
const std::string kSdk47 = kFixtures + "/import/sdk-0.47";

class JoinedFeedTest : public ::testing::Test {
 protected:
  static std::unique_ptr<RpcBlocks> Rpc(const std::string& dir) {
    return RpcBlocks::Open(OpenRpcFolder(dir)).value();
  }
  absl::StatusOr<CompletionResult> Complete(
      absl::StatusOr<std::unique_ptr<WritesSource>> writes, std::unique_ptr<RpcBlocks> rpc,
      JoinedFeedOptions options = {{}, kSdk47 + "/genesis.json"},
      SourceNames names = {"", "", "", "mocknet", {"alpha", "beta", "never"}}) {
    if (!writes.ok()) return writes.status();
    auto feed = JoinedFeed::Create(*std::move(writes), std::move(rpc), options);
    if (!feed.ok()) return feed.status();
    CompletionOptions completion;
    completion.out = folder_.Path("out" + std::to_string(outs_++));
    completion.cache_mb = 32;
    completion.threads = 1;
    completion.names = std::move(names);
    NoObserver observer;
    return CompleteRecording(feed->get(), nullptr, completion, &observer);
  }
  std::string last_out() const { return folder_.Path("out" + std::to_string(outs_ - 1)); }

  TemporaryDir folder_;
  int outs_ = 0;
};

TEST_F(JoinedFeedTest, StreamingFilesAloneMakeAVerifiedRecording) {
  const auto result = Complete(OpenStreamWrites(kSdk47 + "/files"), nullptr);
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->outcome, CompletionOutcome::kComplete) << result->mismatch;
  EXPECT_EQ(result->checks.app_hashes, 9);
  EXPECT_EQ(result->checks.header_app_hashes, 8);
  EXPECT_EQ(result->checks.results_hashes, 8);
  EXPECT_EQ(result->checks.header_hashes, 9);
  EXPECT_EQ(result->manifest.chain_id, "stream-47");
  const auto contents = CheckRecording(last_out(), result->manifest, [](int64_t) {});
  EXPECT_TRUE(contents.ok()) << contents.status();
}

TEST_F(JoinedFeedTest, RpcAnswersCompleteStreamsThatLackRequests) {
  std::filesystem::copy(kSdk47 + "/files", folder_.Path("files"));
  for (int height = 1; height <= 9; ++height) {
    std::filesystem::remove(folder_.Path("files/block-" + std::to_string(height) + "-meta"));
  }
  const auto result = Complete(OpenStreamWrites(folder_.Path("files")), Rpc(kSdk47 + "/rpc"),
                               {{std::nullopt, 8}, kSdk47 + "/genesis.json"});
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->outcome, CompletionOutcome::kComplete) << result->mismatch;
  EXPECT_EQ(result->checks.app_hashes, 8);
  EXPECT_EQ(result->checks.header_app_hashes, 8);
  EXPECT_EQ(result->checks.results_hashes, 8);
  // What the two sources say of the blocks is the same.
  const std::vector<v1::Block> by_rpc = ReadBlocks(last_out());
  ASSERT_TRUE(Complete(OpenStreamWrites(kSdk47 + "/files"), nullptr).ok());
  const std::vector<v1::Block> by_meta = ReadBlocks(last_out());
  for (size_t i = 0; i < by_rpc.size(); ++i) {
    EXPECT_EQ(by_rpc[i].request().SerializeAsString(), by_meta[i].request().SerializeAsString())
        << i;
    EXPECT_EQ(by_rpc[i].header().SerializeAsString(), by_meta[i].header().SerializeAsString()) << i;
    v1::Block meta = by_meta[i];
    meta.mutable_response()->clear_app_hash();                 // in the next header only
    meta.mutable_response()->clear_consensus_param_updates();  // the producer left them out
    v1::Block rpc = by_rpc[i];
    rpc.mutable_response()->clear_consensus_param_updates();
    EXPECT_EQ(rpc.response().SerializeAsString(), meta.response().SerializeAsString()) << i;
  }
}

TEST_F(JoinedFeedTest, ChangeSetsWithRpcAnswersMakeAVerifiedRecording) {
  const auto result = Complete(OpenChangeSetWrites(kSdk47 + "/changesets"), Rpc(kSdk47 + "/rpc"),
                               {{std::nullopt, 8}, kSdk47 + "/genesis.json"});
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->outcome, CompletionOutcome::kComplete) << result->mismatch;
  EXPECT_EQ(result->checks.header_app_hashes, 8);
}

TEST_F(JoinedFeedTest, RpcAnswersGiveARecordingItsHeaders) {
  ASSERT_TRUE(Complete(OpenStreamWrites(kSdk47 + "/files"), nullptr).ok());
  const std::string whole = last_out();
  CopyRecording(whole, folder_.Path("bare"), [](v1::Block* block) { block->clear_header(); });
  const auto result = Complete(OpenRecordingWrites(folder_.Path("bare")), Rpc(kSdk47 + "/rpc"),
                               {{std::nullopt, 8}, ""}, {});
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->outcome, CompletionOutcome::kComplete) << result->mismatch;
  EXPECT_EQ(result->checks.header_app_hashes, 8);
  EXPECT_EQ(result->checks.header_hashes, 8);
  // What chooses the native code's constants is not lost on the way.
  EXPECT_EQ(
      LoadManifest(last_out())->document.at("application"),
      nlohmann::json({{"name", "unknown"}, {"version", "unknown"}, {"build_tags", "mocknet"}}));
  const std::vector<v1::Block> expected = ReadBlocks(whole);
  for (const v1::Block& block : ReadBlocks(last_out())) {
    EXPECT_EQ(block.SerializeAsString(),
              expected[static_cast<size_t>(block.height() - 1)].SerializeAsString());
  }
  // A recording whose results are not those of the chain.
  CopyRecording(whole, folder_.Path("untrue"), [](v1::Block* block) {
    block->clear_header();
    if (block->height() == 3) block->mutable_response()->mutable_tx_results(0)->set_gas_used(1);
  });
  const auto untrue = Complete(OpenRecordingWrites(folder_.Path("untrue")), Rpc(kSdk47 + "/rpc"),
                               {{std::nullopt, 8}, ""}, {});
  ASSERT_TRUE(untrue.ok()) << untrue.status();
  EXPECT_EQ(untrue->outcome, CompletionOutcome::kResultsMismatch);
}

TEST_F(JoinedFeedTest, BothSourcesMustTellOfTheSameBlock) {
  std::filesystem::copy(kSdk47 + "/rpc", folder_.Path("rpc"));
  ForgeBlockTime(folder_.Path("rpc/block-1.json"), 1, "2026-11-30T12:00:01Z");
  const auto result = Complete(OpenStreamWrites(kSdk47 + "/files"), Rpc(folder_.Path("rpc")));
  EXPECT_THAT(result.status().message(),
              HasSubstr("block 1 has one hash in the state streaming files and another one"));
}

TEST_F(JoinedFeedTest, ChangeSetsAloneLackTheOracle) {
  const auto result = Complete(OpenChangeSetWrites(kSdk47 + "/changesets"), nullptr);
  EXPECT_THAT(result.status().message(),
              HasSubstr("block 1: the source tells its app hash nowhere"));
}

TEST_F(JoinedFeedTest, ATraceNeedsTheChainsHeaders) {
  const std::string suite = kFixtures + "/regression/send-send";
  const auto result = Complete(OpenTraceWrites(suite + "/trace.jsonl.zst"), nullptr, {},
                               {"thorchain", "", "", "", {"acc"}});
  EXPECT_THAT(result.status().message(), HasSubstr("is not a chain's first one"));
}

TEST_F(JoinedFeedTest, ADroppedOrChangedWriteIsFound) {
  std::filesystem::copy(kSdk47 + "/files", folder_.Path("files"));
  std::string data = ReadBytes(folder_.Path("files/block-5-data"));
  data.back() = static_cast<char>(data.back() ^ 1);  // of a value
  WriteBytes(folder_.Path("files/block-5-data"), data);
  const auto result = Complete(OpenStreamWrites(folder_.Path("files")), nullptr);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->outcome, CompletionOutcome::kAppHashMismatch);
  EXPECT_THAT(result->mismatch, HasSubstr("5"));
}

TEST_F(JoinedFeedTest, SaysWhatIsNotThere) {
  const auto range = [&](std::optional<int64_t> from, std::optional<int64_t> to) {
    const auto result = Complete(OpenStreamWrites(folder_.Path("files")), nullptr,
                                 {{from, to}, kSdk47 + "/genesis.json"});
    return std::string(result.status().message());
  };
  std::filesystem::copy(kSdk47 + "/files", folder_.Path("files"));
  EXPECT_THAT(range(1, 12), HasSubstr("heights 1 to 12 are not there without gap"));
  EXPECT_THAT(range(0, 3), HasSubstr("has 1 to 9"));
  std::filesystem::remove(folder_.Path("files/block-6-data"));
  EXPECT_THAT(range(1, 8), HasSubstr("has 1 to 5, 7 to 9"));
  EXPECT_THAT(range(7, 9), HasSubstr("a base is needed"));
  WriteBytes(folder_.Path("genesis.json"),
             R"({"chain_id":"other","genesis_time":"2026-11-30T12:00:00Z","app_state":{}})");
  EXPECT_THAT(
      Complete(OpenStreamWrites(kSdk47 + "/files"), nullptr, {{}, folder_.Path("genesis.json")})
          .status()
          .message(),
      HasSubstr("is of chain other, the blocks of stream-47"));
  // Other answers than those of this chain.
  EXPECT_THAT(Complete(OpenStreamWrites(kSdk47 + "/files"), Rpc(kFixtures + "/import/rpc-0.38"))
                  .status()
                  .message(),
              HasSubstr("block-1.json"));
}

}  // namespace
}  // namespace blockreplay::replay
