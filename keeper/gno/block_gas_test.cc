// Blocks that run out of gas, which the recording has none of: its first blocks again under smaller
// limits. What to expect was computed by the model of the rules in Python that fixtures/gno/SPEC.md
// names (check_gas.py), with a state of its own carried through the blocks: written by others, and
// equal to the real node in every recorded transaction.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "blockreplay/v1/recording.pb.h"
#include "keeper/gno/testing/native_chain.h"
#include "keeper/gno/testing/recording_file.h"
#include "storage/sha256.h"

namespace blockreplay::keeper::gno::testing {
namespace {

std::string Hex(const storage::Hash& hash, size_t bytes) {
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(hash.data()), bytes));
}

// First bytes of the hash of all writes, "-" for none.
std::string Digest(const sdk::StoreBranch& branch) {
  if (branch.operations().empty()) return "-";
  std::string text;
  for (const auto& [key, operation] : branch.operations()) {
    text.append(key).append("=").append(operation.deleted ? "-" : operation.value).append("\n");
  }
  return Hex(storage::Sha256(std::string_view(text)), 8);
}

struct Limit {
  int64_t max_gas;
  size_t blocks;
  int out_of_gas;      // transactions
  const char* digest;  // of all results, a line for each transaction
};

class BlockGasTest : public ::testing::TestWithParam<Limit> {
 protected:
  static void SetUpTestSuite() {
    auto blocks = ReadMessages<v1::Block>(BLOCKREPLAY_FIXTURES "/gno-sends-300/blocks.zst");
    ASSERT_TRUE(blocks.ok()) << blocks.status();
    blocks_ = new std::vector<v1::Block>(*std::move(blocks));
  }
  static std::vector<v1::Block>* blocks_;
};
std::vector<v1::Block>* BlockGasTest::blocks_ = nullptr;

TEST_P(BlockGasTest, EndsAsTheModelSays) {
  tendermint::abci::RequestInitChain genesis = blocks_->at(0).init_chain();
  genesis.mutable_consensus_params()->mutable_block()->set_max_gas(GetParam().max_gas);
  NativeChain chain(genesis.chain_id());
  ASSERT_TRUE(chain.InitChain(genesis).ok());
  std::string lines;
  int out_of_gas = 0;
  for (size_t b = 0; b < GetParam().blocks; ++b) {
    const auto& request = blocks_->at(b).request();
    chain.BeginBlock(request);
    for (int i = 0; i < request.txs_size(); ++i) {
      const absl::StatusOr<PhaseResult> result = chain.DeliverTx(i);
      ASSERT_TRUE(result.ok()) << result.status();
      absl::StrAppend(&lines, request.height(), " ", i, " ",
                      result->codespace.empty() ? "ok" : result->codespace, " ", result->gas_wanted,
                      " ", result->gas_used, " ", Digest(chain.phase().store(kMainStore)), "\n");
      if (result->codespace == TypeUrl(Error::kOutOfGas)) ++out_of_gas;
    }
    ASSERT_TRUE(chain.EndBlock().ok());
    ASSERT_TRUE(chain.Commit().ok());
  }
  EXPECT_EQ(out_of_gas, GetParam().out_of_gas);
  const std::string digest = Hex(storage::Sha256(std::string_view(lines)), sizeof(storage::Hash));
  if (digest != GetParam().digest) {
    const std::string path =
        absl::StrCat(::testing::TempDir(), "block-gas-", GetParam().max_gas, ".txt");
    std::ofstream(path) << lines;
    ADD_FAILURE() << "the results have the digest " << digest << ", not " << GetParam().digest
                  << "; they are in " << path;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Limits, BlockGasTest,
    ::testing::Values(
        // Less than reading the vm parameters costs: nothing runs.
        Limit{1'000'000, 6, 599,
              "5a0a188e9c7dce64c15f040f8e451097a15adb0624d989cc81dd9a981ebcd5d1"},
        // Hardly more.
        Limit{2'500'000, 6, 593,
              "3ce3fb2259101bf9720b9ccb9a24f60b15172a6c06e0c9a8b30527df70bf002d"},
        Limit{7'000'000, 10, 951,
              "499f4f210defbfeda14c01ce04dbfcef70ee852676a32f08d4ec3d6f5dc59b47"},
        Limit{30'000'000, 20, 1513,
              "0296f7960c2c4af23353a1e20c6a348443206e25d3ec896d16ec2d2353dc1d6a"},
        // A few transactions short.
        Limit{95'000'000, 2, 20,
              "454760e80943783bae12d0d850430e737af2ad6afcdc8fd01de31e9412dcca20"},
        // As recorded: the model against itself.
        Limit{3'000'000'000, 2, 2,
              "5f59ca859970c34c636f787aa1ee54b5de06de3d84717b93315c27aa41014aeb"}),
    [](const auto& test) { return absl::StrCat("MaxGas", test.param.max_gas); });

}  // namespace
}  // namespace blockreplay::keeper::gno::testing
