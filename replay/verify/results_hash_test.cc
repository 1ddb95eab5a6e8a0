#include "replay/verify/results_hash.h"

#include <gtest/gtest.h>

namespace blockreplay::replay {
namespace {

using tendermint::abci::ResponseFinalizeBlock;

void AddResult(ResponseFinalizeBlock* response, uint32_t code, const std::string& data,
               int64_t gas_wanted, int64_t gas_used) {
  tendermint::abci::ExecTxResult* result = response->add_tx_results();
  result->set_code(code);
  result->set_data(data);
  result->set_gas_wanted(gas_wanted);
  result->set_gas_used(gas_used);
}

// The expected hashes were computed by CometBFT v0.38.17's types.NewResults(...).Hash().

TEST(ResultsHash, OfNoTransactions) {
  EXPECT_EQ(HexOf(ResultsHash({})),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(ResultsHash, OfOneEmptyResult) {
  ResponseFinalizeBlock response;
  response.add_tx_results();
  EXPECT_EQ(HexOf(ResultsHash(response)),
            "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d");
}

TEST(ResultsHash, NegativeGasCountsAndTheLogDoesNot) {
  ResponseFinalizeBlock response;
  AddResult(&response, 0, "ok", -1, 6900000);
  response.mutable_tx_results(0)->set_log("ignored");
  response.mutable_tx_results(0)->set_codespace("ignored");
  response.mutable_tx_results(0)->add_events()->set_type("ignored");
  EXPECT_EQ(HexOf(ResultsHash(response)),
            "7e64bbaca0ad3acacb6efe5eb34e878eadaed65b35f6482c70c1e5fd35712b9d");
}

TEST(ResultsHash, OfThreeResults) {
  ResponseFinalizeBlock response;
  AddResult(&response, 0, "", 0, 0);
  AddResult(&response, 5, "", 0, 0);
  AddResult(&response, 99, std::string("\0\1\2\377", 4), 200000, 1162);
  EXPECT_EQ(HexOf(ResultsHash(response)),
            "af2a9c52880242bbeb6f6004e30743452e0a0b05bc774e6bb271d992a9411bb3");
}

TEST(ResultsHash, OfThirteenResults) {
  ResponseFinalizeBlock response;
  for (int i = 0; i < 13; ++i) {
    AddResult(&response, static_cast<uint32_t>(i % 3), "data " + std::to_string(i), i * 1000,
              i * 999);
  }
  EXPECT_EQ(HexOf(ResultsHash(response)),
            "f0578acad3d20284fcaebde39c387a7c6ff9fd3f34d343f1ac331377a7decaef");
}

}  // namespace
}  // namespace blockreplay::replay
