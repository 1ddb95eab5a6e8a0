#include "replay/import/rpc_blocks.h"

#include <filesystem>
#include <functional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "replay/import/test_rpc.h"
#include "replay/recording/test_recording.h"

namespace blockreplay::replay {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kFirst = 46;  // of six heights of a real server

class RpcBlocksTest : public ::testing::Test {
 protected:
  RpcBlocksTest() {
    std::filesystem::copy(BLOCKREPLAY_FIXTURES "/import/rpc-0.38", dir_,
                          std::filesystem::copy_options::recursive);
  }
  std::string Path(const std::string& name) { return dir_ + "/" + name + ".json"; }
  void Edit(const std::string& name, const std::function<void(nlohmann::json*)>& edit) {
    nlohmann::json answer = nlohmann::json::parse(ReadBytes(Path(name)));
    edit(&answer["result"]);
    WriteBytes(Path(name), answer.dump());
  }
  std::string ErrorOf(int64_t from, int64_t to) {
    auto blocks = RpcBlocks::Open(OpenRpcFolder(dir_));
    if (!blocks.ok()) return std::string(blocks.status().message());
    for (int64_t height = from; height <= to; ++height) {
      v1::Block block;
      if (absl::Status status = (*blocks)->Read(height, &block); !status.ok()) {
        return std::string(status.message());
      }
    }
    return "";
  }

  TemporaryDir folder_;
  const std::string dir_ = folder_.Path("rpc");
};

TEST_F(RpcBlocksTest, ReadsRequestsResponsesAndHeaders) {
  auto blocks = RpcBlocks::Open(OpenRpcFolder(dir_));
  ASSERT_TRUE(blocks.ok()) << blocks.status();
  EXPECT_EQ((*blocks)->status()->version, "0.38.19");
  for (int64_t height = kFirst + 1; height < kFirst + 6; ++height) {
    v1::Block block;
    const absl::Status status = (*blocks)->Read(height, &block);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(block.request().height(), height);
    ASSERT_EQ(block.request().decided_last_commit().votes_size(), 1);
    const auto& vote = block.request().decided_last_commit().votes(0);
    EXPECT_EQ(vote.validator().address().size(), 20u);
    // The change in block 48 is in force from 50 on; 51 has the votes of 50.
    EXPECT_EQ(vote.validator().power(), height < 51 ? 10 : 12) << height;
    EXPECT_EQ(block.response().app_hash().size(), 8u);
  }
  const auto after = (*blocks)->HeaderAt(kFirst + 5);
  ASSERT_TRUE(after.ok() && after->has_value());
  EXPECT_EQ((*after)->height(), kFirst + 5);
  EXPECT_FALSE((*blocks)->HeaderAt(kFirst + 6)->has_value());
}

TEST_F(RpcBlocksTest, TheFirstBlockNeedsOnlyTheValidatorsBeforeIt) {
  std::filesystem::remove(Path("commit-46"));
  std::filesystem::remove(Path("block-46"));
  EXPECT_EQ(ErrorOf(47, 51), "");
  std::filesystem::remove(Path("validators-46"));
  EXPECT_THAT(ErrorOf(47, 51), HasSubstr("validators-46.json"));
  EXPECT_THAT(ErrorOf(47, 51), HasSubstr("needed for the votes in block 47"));
}

TEST_F(RpcBlocksTest, FindsValidatorsThatAreNotTheHeaders) {
  Edit("validators-46",
       [](nlohmann::json* result) { (*result)["validators"][0]["voting_power"] = "1000"; });
  EXPECT_THAT(ErrorOf(47, 47), HasSubstr("validators-46"));
  EXPECT_THAT(ErrorOf(47, 47), HasSubstr("the header says"));
  Edit("validators-46", [](nlohmann::json* result) {
    (*result)["validators"][0]["voting_power"] = "10";
    (*result)["total"] = "2";
  });
  EXPECT_THAT(ErrorOf(47, 47), HasSubstr("validators-46-2.json"));
}

TEST_F(RpcBlocksTest, ReadsValidatorsInPages) {
  const std::string name = "validators-46";
  nlohmann::json second = nlohmann::json::parse(ReadBytes(Path(name)));
  Edit(name, [](nlohmann::json* result) { (*result)["validators"] = nlohmann::json::array(); });
  // No progress at all is an error, so the first page keeps what it has.
  EXPECT_THAT(ErrorOf(47, 47), HasSubstr("has no more validators, but 1 in all"));
  Edit(name, [&](nlohmann::json* result) {
    (*result)["validators"] = second["result"]["validators"];
    (*result)["total"] = "2";
  });
  second["result"]["total"] = "2";
  WriteBytes(Path(name + "-2"), second.dump());
  // Both pages were read: two validators have another hash.
  EXPECT_THAT(ErrorOf(47, 47), HasSubstr("the header says"));
}

TEST_F(RpcBlocksTest, FindsAnswersThatDoNotFollowEachOther) {
  EXPECT_EQ(ErrorOf(47, 51), "");
  // A block that is honest by itself, but another one.
  const std::string honest = ReadBytes(Path("block-48"));
  ForgeBlockTime(Path("block-48"), 48, "2026-11-30T12:00:00Z");
  EXPECT_THAT(ErrorOf(47, 51), HasSubstr("block-49.json: follows block"));
  WriteBytes(Path("block-48"), honest);
  std::filesystem::copy_file(BLOCKREPLAY_FIXTURES "/import/rpc-0.38/block-49.json",
                             Path("block-48"), std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(ErrorOf(47, 51), HasSubstr("block-48.json: height: is 49, not 48"));
}

TEST_F(RpcBlocksTest, SaysWhichAnswerIsMissingOrShort) {
  Edit("block_results-49", [](nlohmann::json* result) { (*result)["txs_results"] = nullptr; });
  EXPECT_THAT(ErrorOf(47, 51),
              HasSubstr("block_results-49.json: has 0 results, but the block has 1"));
  std::filesystem::remove(Path("block_results-48"));
  EXPECT_THAT(ErrorOf(47, 51), HasSubstr("block_results-48.json"));
  WriteBytes(Path("block-47"), ReadBytes(Path("block-47")).substr(0, 300));
  EXPECT_THAT(ErrorOf(47, 51), HasSubstr("block-47.json: document: is no JSON, or ends early"));
}

}  // namespace
}  // namespace blockreplay::replay
