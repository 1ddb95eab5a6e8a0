#include "replay/import/formats/rpc_json.h"

#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "replay/recording/test_recording.h"
#include "replay/verify/results_hash.h"

namespace blockreplay::replay {
namespace {

using ::testing::HasSubstr;

struct Server {
  const char* version;  // of the fixture's folder
  int64_t first;        // of six heights; the third changes the validator
  const char* software;
  EventEncoding encoding;
};

std::string Answer(const Server& server, const std::string& method, int64_t height) {
  return ReadBytes(std::string(BLOCKREPLAY_FIXTURES "/import/rpc-") + server.version + "/" +
                   method + "-" + std::to_string(height) + ".json");
}

// Answers of real servers.
class RpcServersTest : public ::testing::TestWithParam<Server> {};

TEST_P(RpcServersTest, BlocksHaveTheirHashesAndFollowEachOther) {
  std::string last_hash;
  std::string results_hash;
  for (int64_t height = GetParam().first; height < GetParam().first + 6; ++height) {
    const auto block = ParseRpcBlock(Answer(GetParam(), "block", height), "answer", height);
    ASSERT_TRUE(block.ok()) << block.status();
    const auto& header = block->block.header();
    EXPECT_EQ(block->block.last_commit().signatures_size(), 1);
    if (!last_hash.empty()) {
      EXPECT_EQ(header.last_block_id().hash(), last_hash);
      EXPECT_EQ(header.last_results_hash(), results_hash);
    }
    last_hash = block->hash;
    const auto results =
        ParseRpcBlockResults(Answer(GetParam(), "block_results", height), "answer", height, {});
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ(results->tx_results_size(), block->block.data().txs_size());
    const Sha256Digest hash = ResultsHash(*results);
    results_hash.assign(hash.begin(), hash.end());
    const auto commit = ParseRpcCommit(Answer(GetParam(), "commit", height), "answer", height);
    ASSERT_TRUE(commit.ok()) << commit.status();
    EXPECT_EQ(commit->SerializeAsString(), header.SerializeAsString());
    tendermint::types::ValidatorSet validators;
    const auto total =
        ParseRpcValidators(Answer(GetParam(), "validators", height), "answer", height, &validators);
    ASSERT_TRUE(total.ok()) << total.status();
    EXPECT_EQ(*total, 1);
    EXPECT_EQ(ValidatorsHash(validators), header.validators_hash());
  }
}

TEST_P(RpcServersTest, EventsAreTextWhateverTheEncoding) {
  EXPECT_EQ(EventEncodingOf(GetParam().software), GetParam().encoding);
  const int64_t height = GetParam().first + 3;
  for (const std::optional<EventEncoding> encoding :
       {std::optional<EventEncoding>(), std::optional(GetParam().encoding)}) {
    const auto results = ParseRpcBlockResults(Answer(GetParam(), "block_results", height), "answer",
                                              height, encoding);
    ASSERT_TRUE(results.ok()) << results.status();
    const auto& event = results->tx_results(0).events(0);
    EXPECT_EQ(event.type(), "app");
    EXPECT_EQ(event.attributes(0).key(), "creator");
    EXPECT_EQ(event.attributes(0).value(), "Cosmoshi Netowoko");
    EXPECT_TRUE(event.attributes(0).index());
    EXPECT_FALSE(event.attributes(3).index());
  }
}

TEST_P(RpcServersTest, ValidatorUpdatesComeWithTheirKeys) {
  const int64_t height = GetParam().first + 2;
  const auto results =
      ParseRpcBlockResults(Answer(GetParam(), "block_results", height), "answer", height, {});
  ASSERT_EQ(results->validator_updates_size(), 1);
  EXPECT_EQ(results->validator_updates(0).power(), 12);
  EXPECT_EQ(results->validator_updates(0).pub_key().ed25519().size(), 32u);
  // In force two blocks later.
  tendermint::types::ValidatorSet validators;
  ASSERT_TRUE(ParseRpcValidators(Answer(GetParam(), "validators", height + 2), "answer", height + 2,
                                 &validators)
                  .ok());
  EXPECT_EQ(validators.validators(0).voting_power(), 12);
  EXPECT_EQ(validators.validators(0).pub_key().ed25519(),
            results->validator_updates(0).pub_key().ed25519());
}

TEST_P(RpcServersTest, StatusNamesTheChain) {
  const auto status = ParseRpcStatus(ReadBytes(std::string(BLOCKREPLAY_FIXTURES "/import/rpc-") +
                                               GetParam().version + "/status.json"),
                                     "answer");
  ASSERT_TRUE(status.ok()) << status.status();
  EXPECT_EQ(status->version, GetParam().software);
  EXPECT_THAT(status->chain_id, HasSubstr("test-chain-"));
  EXPECT_GT(status->latest_height, GetParam().first + 5);
}

INSTANTIATE_TEST_SUITE_P(Versions, RpcServersTest,
                         ::testing::Values(Server{"0.34", 27, "0.34.29", EventEncoding::kBase64},
                                           Server{"0.37", 15, "0.37.15", EventEncoding::kText},
                                           Server{"0.38", 46, "0.38.19", EventEncoding::kText}),
                         [](const auto& server) {
                           return std::string(server.param.version).replace(1, 1, "_");
                         });

constexpr Server kServer{"0.38", 46, "0.38.19", EventEncoding::kText};
constexpr int64_t kHeight = 49;

std::string BlockError(const std::string& text, int64_t height = kHeight) {
  return std::string(ParseRpcBlock(text, "block.json", height).status().message());
}

TEST(RpcJsonTest, TakesBase64AndBareResults) {
  nlohmann::json answer = nlohmann::json::parse(Answer(kServer, "block", kHeight))["result"];
  EXPECT_EQ(BlockError(answer.dump()), "");
  std::string raw = absl::HexStringToBytes(answer["block_id"]["hash"].get<std::string>());
  answer["block_id"]["hash"] = absl::Base64Escape(raw);
  raw = absl::HexStringToBytes(answer["block"]["header"]["proposer_address"].get<std::string>());
  answer["block"]["header"]["proposer_address"] = absl::Base64Escape(raw);
  EXPECT_EQ(BlockError(answer.dump()), "");
}

TEST(RpcJsonTest, FindsEveryLieAboutABlock) {
  const std::string text = Answer(kServer, "block", kHeight);
  const nlohmann::json honest = nlohmann::json::parse(text);
  EXPECT_EQ(BlockError(text), "");
  EXPECT_THAT(BlockError(text, kHeight + 1), HasSubstr("block.json: height: is 49, not 50"));
  const auto with = [&](const char* pointer, const nlohmann::json& value) {
    nlohmann::json lie = honest;
    lie[nlohmann::json::json_pointer(pointer)] = value;
    return BlockError(lie.dump());
  };
  const std::string other_hash(64, 'A');
  for (const char* member : {"last_commit_hash", "data_hash", "validators_hash", "app_hash",
                             "next_validators_hash", "consensus_hash", "last_results_hash"}) {
    EXPECT_THAT(with((std::string("/result/block/header/") + member).c_str(), other_hash),
                HasSubstr("block_id: says"))
        << member;
  }
  EXPECT_THAT(with("/result/block/header/time", "2026-11-30T00:00:00Z"), HasSubstr("block_id"));
  EXPECT_THAT(with("/result/block/header/chain_id", "other"), HasSubstr("block_id"));
  EXPECT_THAT(with("/result/block/data/txs/0", "b3RoZXI="), HasSubstr("data_hash: says"));
  EXPECT_THAT(with("/result/block/data/txs", nullptr), HasSubstr("data_hash: says"));
  EXPECT_THAT(with("/result/block/last_commit/signatures/0/timestamp", "2026-11-30T00:00:00Z"),
              HasSubstr("last_commit_hash: says"));
  EXPECT_THAT(with("/result/block/last_commit", nullptr), HasSubstr("last_commit_hash: says"));
  EXPECT_THAT(with("/result/block/evidence/evidence",
                   nlohmann::json::parse(R"([{"type":"tendermint/LightClientAttackEvidence"}])")),
              HasSubstr("is of a kind that is not read"));
}

TEST(RpcJsonTest, SaysWhichMemberIsNotWhatItShouldBe) {
  const nlohmann::json honest = nlohmann::json::parse(Answer(kServer, "block", kHeight));
  const auto with = [&](const char* pointer, const nlohmann::json& value) {
    nlohmann::json changed = honest;
    changed[nlohmann::json::json_pointer(pointer)] = value;
    return BlockError(changed.dump());
  };
  EXPECT_THAT(with("/result/block/header/height", "x"), HasSubstr("height: is no 64-bit number"));
  EXPECT_THAT(with("/result/block/header/time", "today"), HasSubstr("time: is no time"));
  EXPECT_THAT(with("/result/block/header/data_hash", "12"),
              HasSubstr("data_hash: is not 32 bytes"));
  EXPECT_THAT(with("/result/block/header", 5), HasSubstr("header: is not there, or no object"));
  EXPECT_THAT(with("/result/block/data/txs", 5), HasSubstr("txs: is no array"));
  EXPECT_THAT(with("/result/block/data/txs/0", "*"), HasSubstr("txs: is no base64"));
  EXPECT_THAT(with("/result/block/last_commit/signatures/0/block_id_flag", 9),
              HasSubstr("block_id_flag: is no flag"));
  EXPECT_THAT(BlockError("{\"result\":"), HasSubstr("is no JSON, or ends early"));
  EXPECT_THAT(BlockError("[]"), HasSubstr("is no JSON object"));
}

TEST(RpcJsonTest, PassesOnWhatTheServerRefuses) {
  const auto refused = ParseRpcBlock(
      R"({"jsonrpc":"2.0","id":-1,"error":{"code":-32603,"message":"Internal error",)"
      R"("data":"height 99 must be less than or equal to the current blockchain height 9"}})",
      "http://host/block?height=99", 99);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(refused.status().message(), HasSubstr("Internal error height 99 must be less"));
}

TEST(RpcJsonTest, ResultsMustBeInTheEncodingThatTheVersionHas) {
  const std::string text = Answer(kServer, "block_results", kHeight);
  EXPECT_THAT(ParseRpcBlockResults(text, "results.json", kHeight, EventEncoding::kBase64)
                  .status()
                  .message(),
              HasSubstr("attributes: are no base64"));
  EXPECT_THAT(ParseRpcBlockResults(text, "results.json", 3, {}).status().message(),
              HasSubstr("height: is 49, not 3"));
}

}  // namespace
}  // namespace blockreplay::replay
