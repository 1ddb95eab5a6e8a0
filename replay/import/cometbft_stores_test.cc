// Stores that CometBFT 0.34.29, 0.37.15 and 0.38.17 wrote (fixtures/cometbft-stores), against what
// CometBFT 0.38.17 reads from them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/escaping.h"
#include "nlohmann/json.hpp"
#include "replay/import/cometbft_block_store.h"
#include "replay/import/cometbft_state_store.h"
#include "replay/import/finalize_request.h"
#include "replay/recording/test_recording.h"
#include "replay/verify/results_hash.h"
#include "storage/kv/read_only.h"

namespace blockreplay::replay {
namespace {

using ::testing::HasSubstr;

class CometBftStoresTest : public ::testing::TestWithParam<const char*> {
 protected:
  CometBftStoresTest() {
    const std::string fixture =
        std::string(BLOCKREPLAY_FIXTURES) + "/cometbft-stores/" + GetParam();
    EXPECT_EQ(
        std::system(("tar --zstd -xf '" + fixture + ".tar.zst' -C '" + dir_.Path("") + "' && " +
                     "zstd -qdo '" + dir_.Path("expected.json") + "' '" + fixture + ".json.zst'")
                        .c_str()),
        0);
    expected_ = nlohmann::json::parse(ReadBytes(dir_.Path("expected.json")));
    block_db_ = *storage::OpenReadOnly(dir_.Path("blockstore.db"));
    state_db_ = *storage::OpenReadOnly(dir_.Path("state.db"));
  }

  TemporaryDir dir_;
  nlohmann::json expected_;
  std::unique_ptr<storage::Reader> block_db_;
  std::unique_ptr<storage::Reader> state_db_;
};

TEST_P(CometBftStoresTest, GiveWhatCometBftReads) {
  const auto blocks = CometBftBlockStore::Open(block_db_.get(), "blockstore.db");
  ASSERT_TRUE(blocks.ok()) << blocks.status();
  const auto states = CometBftStateStore::Open(state_db_.get(), "state.db");
  ASSERT_TRUE(states.ok()) << states.status();
  EXPECT_EQ(blocks->range(), (HeightRange{3, 9}));
  EXPECT_EQ(states->initial_height(), 3);
  EXPECT_EQ(states->last_block_height(), 9);
  EXPECT_EQ(states->chain_id(), "stores-1");
  EXPECT_THAT(states->software(), HasSubstr(GetParam()));

  std::string results_hash;
  bool evidence = false;
  for (const nlohmann::json& entry : expected_) {
    const auto height = entry["height"].get<int64_t>();
    const auto block = blocks->LoadBlock(height);
    ASSERT_TRUE(block.ok()) << block.status();
    std::optional<tendermint::types::ValidatorSet> validators;
    if (height != states->initial_height()) validators = *states->LoadValidators(height - 1);
    const auto request =
        BuildFinalizeRequest(block->block, block->hash, validators ? &*validators : nullptr);
    ASSERT_TRUE(request.ok()) << request.status();
    EXPECT_EQ(absl::BytesToHexString(request->SerializeAsString()),
              entry["request"].get<std::string>())
        << height;
    evidence = evidence || request->misbehavior_size() > 0;

    const auto response = states->LoadResponse(height);
    ASSERT_TRUE(response.ok()) << response.status();
    ASSERT_TRUE(response->has_value());
    EXPECT_EQ(absl::BytesToHexString((*response)->SerializeAsString()),
              entry["response"].get<std::string>())
        << height;
    if (!results_hash.empty()) {
      EXPECT_EQ(block->block.header().last_results_hash(), results_hash) << height;
    }
    const Sha256Digest results = ResultsHash(**response);
    results_hash.assign(results.begin(), results.end());
  }
  EXPECT_TRUE(evidence);
}

TEST_P(CometBftStoresTest, SayWhatIsNotThere) {
  const auto blocks = CometBftBlockStore::Open(block_db_.get(), "blockstore.db");
  const auto states = CometBftStateStore::Open(state_db_.get(), "state.db");
  EXPECT_EQ(blocks->LoadBlock(10).status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(blocks->LoadBlock(2).status().message()), HasSubstr("3 to 9"));
  EXPECT_EQ(states->LoadResponse(10)->has_value(), false);
  EXPECT_EQ(states->LoadValidators(2).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(CometBftBlockStore::Open(state_db_.get(), "x").status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(CometBftStateStore::Open(block_db_.get(), "x").status().code(),
            absl::StatusCode::kNotFound);
}

INSTANTIATE_TEST_SUITE_P(All, CometBftStoresTest, ::testing::Values("0.34", "0.37", "0.38"),
                         [](const auto& param) {
                           std::string name = param.param;
                           name[1] = '_';
                           return name;
                         });

}  // namespace
}  // namespace blockreplay::replay
