// What CheckTx may share between transactions, and what it must not: each test would fail if the
// memo were used where it must not be, or were not used where it should be.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "blockreplay/v1/recording.pb.h"
#include "keeper/gno/signature_batch.h"
#include "keeper/gno/testing/native_chain.h"
#include "keeper/gno/testing/recording_file.h"

namespace blockreplay::keeper::gno {
namespace {

using testing::NativeChain;

constexpr TxRules kRules{.setparam_hook = true};

class CheckTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto blocks =
        testing::ReadMessages<v1::Block>(BLOCKREPLAY_FIXTURES "/gno-sends-300/blocks.zst");
    ASSERT_TRUE(blocks.ok()) << blocks.status();
    blocks_ = new std::vector<v1::Block>(*std::move(blocks));
  }

  void ReplayTo(int64_t height) {
    if (chain_ == nullptr) {
      chain_ = std::make_unique<NativeChain>(blocks_->at(0).init_chain().chain_id());
      ASSERT_TRUE(chain_->InitChain(blocks_->at(0).init_chain()).ok());
    }
    while (replayed_ < height) {
      const v1::Block& block = blocks_->at(static_cast<size_t>(replayed_++));
      ASSERT_TRUE(chain_->Execute(block.request()).ok());
    }
  }

  // An environment on the committed state, with a memo of the test's own.
  TxEnvironment Environment(Mode mode) {
    state_.Reset(chain_->main_store());
    meter_ = GasMeter::Infinite();
    block_ = chain_->committed();
    return {.mode = mode,
            .chain_id = block_.chain_id,
            .height = block_.height,
            .time = block_.time,
            .max_gas = block_.max_gas,
            .estimated_depth = EstimatedDepth(block_.keys),
            .state = &state_,
            .block_meter = &meter_,
            .shared_meter = &meter_,
            .memo = &memo_,
            .memo_fee_collector = true};
  }

  // A transaction of the next block that passes.
  const std::string& PassingTx() {
    for (const std::string& tx : blocks_->at(static_cast<size_t>(replayed_)).request().txs()) {
      TxEnvironment environment = Environment(Mode::kCheck);
      environment.memo = nullptr;
      if (runner_.Run(tx, environment).error == Error::kNone) return tx;
    }
    ADD_FAILURE() << "no transaction passes";
    return blocks_->at(0).request().txs(0);
  }

  int64_t GasOf(Mode mode, const std::string& tx) {
    const TxResult result = runner_.Run(tx, Environment(mode));
    EXPECT_EQ(result.error, Error::kNone) << result.log;
    return result.gas_used;
  }

  // Parameters that nobody could have read from the state.
  CheckMemo::Entry Poison(int64_t height) {
    CheckMemo::Entry entry;
    entry.height = height;
    entry.auth = {
        .max_memo_bytes = 65536,
        .tx_sig_limit = 7,
        .tx_size_cost_per_byte = 1,
        .sig_verify_cost_ed25519 = 1,
        .sig_verify_cost_secp256k1 = 1,
        .fee_collector = *Address::FromBech32("g1c28txyrzhtc324ugzhj2yhlwlgkz9r8ssqj2jd")};
    entry.costs = {.get = 1, .set = 1, .iterator_next = 1};
    return entry;
  }

  static std::vector<v1::Block>* blocks_;
  std::unique_ptr<NativeChain> chain_;
  int64_t replayed_ = 0;
  TxRunner runner_{kRules};
  CheckMemo memo_;
  CheckState state_;
  CommittedBlock block_;
  GasMeter meter_ = GasMeter::Infinite();
};
std::vector<v1::Block>* CheckTest::blocks_ = nullptr;

TEST_F(CheckTest, OnlyCheckTxUsesTheMemo) {
  ReplayTo(2);
  const std::string tx = PassingTx();
  const int64_t check = GasOf(Mode::kCheck, tx);
  const int64_t simulate = GasOf(Mode::kSimulate, tx);
  const int64_t deliver = GasOf(Mode::kDeliver, tx);
  memo_.Store(Poison(2));
  EXPECT_LT(GasOf(Mode::kCheck, tx), check / 10);
  EXPECT_EQ(GasOf(Mode::kSimulate, tx), simulate);
  EXPECT_EQ(GasOf(Mode::kDeliver, tx), deliver);
}

TEST_F(CheckTest, SimulateAndDeliverDoNotFillTheMemo) {
  ReplayTo(2);
  const std::string tx = PassingTx();
  memo_.Invalidate();
  GasOf(Mode::kSimulate, tx);
  GasOf(Mode::kDeliver, tx);
  EXPECT_EQ(memo_.Find(2), nullptr);
  GasOf(Mode::kCheck, tx);
  EXPECT_NE(memo_.Find(2), nullptr);
}

TEST_F(CheckTest, TheMemoOfAnotherHeightIsNotUsed) {
  ReplayTo(2);
  const std::string tx = PassingTx();
  const int64_t check = GasOf(Mode::kCheck, tx);
  for (const int64_t other : {1, 3}) {
    memo_.Invalidate();
    memo_.Store(Poison(other));
    EXPECT_EQ(GasOf(Mode::kCheck, tx), check) << other;
  }
}

TEST_F(CheckTest, GenesisIsNeverRemembered) {
  ReplayTo(2);
  const std::string tx = PassingTx();
  memo_.Invalidate();
  memo_.Store(Poison(0));
  EXPECT_EQ(memo_.Find(0), nullptr);
  TxEnvironment environment = Environment(Mode::kCheck);
  environment.height = 0;
  // The signature is for another height: what counts is what was looked up and left behind.
  runner_.Run(tx, environment);
  EXPECT_EQ(memo_.Find(0), nullptr);
}

TEST_F(CheckTest, CommittingForgets) {
  // Block 90 raises the price of a transaction's bytes.
  ReplayTo(89);
  Checker checker({.rules = kRules});
  checker.Committed(chain_->committed(), chain_->main_store());
  const std::string before = PassingTx();
  const int64_t gas_before = checker.Check(before).gas_used;
  ReplayTo(90);
  const std::string after = PassingTx();
  TxEnvironment plain = Environment(Mode::kCheck);
  plain.memo = nullptr;
  const int64_t expected = runner_.Run(after, plain).gas_used;
  checker.Committed(chain_->committed(), chain_->main_store());
  EXPECT_EQ(checker.Check(after).gas_used, expected);
  // With what was true at height 89 it would have been another one.
  memo_.Invalidate();
  EXPECT_EQ(GasOf(Mode::kCheck, after), expected);
  CheckMemo::Entry stale = *memo_.Find(90);
  stale.auth.tx_size_cost_per_byte = 10;
  memo_.Store(stale);
  EXPECT_NE(GasOf(Mode::kCheck, after), expected);
  EXPECT_GT(gas_before, 0);
}

TEST_F(CheckTest, CommittingForgetsEvenAtTheSameHeight) {
  // As if a node took the block back and made it anew: the height alone does not tell states apart.
  ReplayTo(89);
  Checker checker({.rules = kRules});
  CommittedBlock first_try = chain_->committed();
  first_try.height = 90;
  checker.Committed(first_try, chain_->main_store());
  checker.Check(PassingTx());
  ReplayTo(90);
  const std::string tx = PassingTx();
  TxEnvironment plain = Environment(Mode::kCheck);
  plain.memo = nullptr;
  const int64_t expected = runner_.Run(tx, plain).gas_used;
  checker.Committed(chain_->committed(), chain_->main_store());
  EXPECT_EQ(checker.Check(tx).gas_used, expected);
}

TEST_F(CheckTest, SimulationsDoNotSeeChecks) {
  ReplayTo(2);
  Checker checker({.rules = kRules});
  checker.Committed(chain_->committed(), chain_->main_store());
  // The first transaction of an account leaves its key there, which makes reading it cost more.
  Scratch scratch;
  size_t first_transactions = 0;
  for (const std::string& bytes : blocks_->at(2).request().txs()) {
    Tx tx;
    if (!tx.Decode(bytes, &scratch) || tx.signatures.size() != 1) continue;
    const auto stored = chain_->main_store()->Get("/a/" + std::string(tx.msgs[0].signer.view()));
    if (!stored.has_value() || stored->find("PubKey") != std::string_view::npos) continue;
    const TxResult before = checker.Simulate(bytes);
    if (before.error != Error::kNone || checker.Check(bytes).error != Error::kNone) continue;
    const TxResult after = checker.Simulate(bytes);
    EXPECT_EQ(after.error, Error::kNone);
    EXPECT_EQ(after.gas_used, before.gas_used);
    ++first_transactions;
  }
  EXPECT_GT(first_transactions, 0u);
}

TEST_F(CheckTest, TransactionsDoNotChangeTheSharedEntry) {
  ReplayTo(2);
  memo_.Invalidate();
  GasOf(Mode::kCheck, PassingTx());
  const auto entry = memo_.Find(2);
  ASSERT_NE(entry, nullptr);
  const AuthParams auth = entry->auth;
  const StoreCosts costs = entry->costs;
  for (const std::string& tx : blocks_->at(2).request().txs())
    runner_.Run(tx, Environment(Mode::kCheck));
  EXPECT_EQ(memo_.Find(2), entry);
  EXPECT_EQ(entry->auth, auth);
  EXPECT_EQ(entry->costs.get, costs.get);
  EXPECT_EQ(entry->costs.set, costs.set);
  static_assert(std::is_const_v<std::remove_reference_t<decltype(*entry)>>);
}

TEST_F(CheckTest, ChecksSeeEachOtherUntilTheCommit) {
  ReplayTo(2);
  Checker checker({.rules = kRules});
  checker.Committed(chain_->committed(), chain_->main_store());
  const std::string tx = PassingTx();
  EXPECT_EQ(checker.Simulate(tx).error, Error::kNone);
  EXPECT_EQ(checker.Check(tx).error, Error::kNone);
  // Its sequence is used up now, but not for a simulation.
  EXPECT_EQ(checker.Check(tx).error, Error::kUnauthorized);
  EXPECT_EQ(checker.Simulate(tx).error, Error::kNone);
  checker.Committed(chain_->committed(), chain_->main_store());
  EXPECT_EQ(checker.Check(tx).error, Error::kNone);
}

TEST_F(CheckTest, TheSignatureCacheAcceptsNothingThatWasNotVerified) {
  ReplayTo(2);
  SignatureCache cache(4);
  const std::string tx = PassingTx();
  TxEnvironment environment = Environment(Mode::kCheck);
  environment.signatures = &cache;
  EXPECT_EQ(runner_.Run(tx, environment).error, Error::kNone);
  EXPECT_EQ(cache.size(), 1u);
  // The same on the same state is a hit.
  environment = Environment(Mode::kCheck);
  environment.signatures = &cache;
  EXPECT_EQ(runner_.Run(tx, environment).error, Error::kNone);
  EXPECT_EQ(cache.size(), 1u);
  // On top of itself it signs another sequence, and fails.
  environment.state = &state_;
  EXPECT_EQ(runner_.Run(tx, environment).error, Error::kUnauthorized);
  // Another chain is another message.
  environment = Environment(Mode::kCheck);
  environment.signatures = &cache;
  environment.chain_id = "another";
  EXPECT_EQ(runner_.Run(tx, environment).error, Error::kUnauthorized);
  EXPECT_EQ(cache.size(), 1u);
  // It stays within its bound.
  for (const std::string& other : blocks_->at(2).request().txs()) {
    environment = Environment(Mode::kCheck);
    environment.signatures = &cache;
    runner_.Run(other, environment);
    EXPECT_LE(cache.size(), 4u);
  }
}

TEST_F(CheckTest, ABatchKnowsASignatureOnlyForWhatItSigns) {
  ReplayTo(2);
  const std::string tx = PassingTx();
  storage::WorkerPool workers(2, "test");
  SignatureCache cache(4);
  for (SignatureCache* const remembered : {static_cast<SignatureCache*>(nullptr), &cache}) {
    SignatureBatch batch(&workers, remembered);
    TxEnvironment environment = Environment(Mode::kCheck);
    environment.signatures = &batch;
    CheckState committed;
    committed.Reset(chain_->main_store());
    batch.Prepare({tx, tx}, environment.chain_id, &committed);
    batch.StartTx(tx);
    EXPECT_EQ(runner_.Run(tx, environment).error, Error::kNone);
    // The second time its sequence is used up, whatever was guessed before.
    batch.StartTx(tx);
    EXPECT_EQ(runner_.Run(tx, environment).error, Error::kUnauthorized);
    batch.Prepare({tx}, environment.chain_id, &committed);
    batch.StartTx(tx);
    EXPECT_EQ(runner_.Run(tx, environment).error, Error::kUnauthorized);
    // A guess for another chain, and one for another transaction, are of no use and do no harm.
    for (const bool other_chain : {true, false}) {
      environment = Environment(Mode::kCheck);
      environment.signatures = &batch;
      batch.Prepare({tx}, other_chain ? "another" : environment.chain_id, &committed);
      batch.StartTx(other_chain ? tx : std::string("something else"));
      EXPECT_EQ(runner_.Run(tx, environment).error, Error::kNone);
    }
  }
}

TEST_F(CheckTest, ABlockThatIsOutOfGasFailsTheRest) {
  ReplayTo(2);
  // What counts before the ante handler, reading the vm parameters, is more than most transactions
  // use; one that uses more still is needed here.
  std::string tx;
  int64_t gas = 0;
  for (const std::string& candidate : blocks_->at(2).request().txs()) {
    const TxResult result = runner_.Run(candidate, Environment(Mode::kDeliver));
    if (result.error != Error::kNone || result.gas_used <= gas) continue;
    tx = candidate;
    gas = result.gas_used;
  }
  const int64_t params_gas = 14 * EstimatedDepth(chain_->committed().keys) * 590;
  ASSERT_GT(gas, params_gas + 4000);

  // One unit short: the transaction runs, its writes stay, its result is out of gas.
  TxEnvironment environment = Environment(Mode::kDeliver);
  meter_ = GasMeter::Limited(gas - 1);
  TxResult result = runner_.Run(tx, environment);
  EXPECT_EQ(result.error, Error::kOutOfGas);
  EXPECT_EQ(result.gas_used, gas);
  EXPECT_GT(result.gas_wanted, 0);
  const std::string collector =
      "/a/" + std::string(Address::FromBech32("g17xpfvakm2amg962yls6f84z3kell8c5lr9lr2e")->view());
  EXPECT_NE(state_.Get(collector), chain_->main_store()->Get(collector));
  // Nothing is left for the next one.
  result = runner_.Run(tx, environment);
  EXPECT_EQ(result.error, Error::kOutOfGas);
  EXPECT_EQ(result.gas_used, 0);
  EXPECT_EQ(result.gas_wanted, 0);
  // Exactly enough is enough, and then nothing is left either.
  environment = Environment(Mode::kDeliver);
  meter_ = GasMeter::Limited(gas);
  EXPECT_EQ(runner_.Run(tx, environment).error, Error::kNone);
  EXPECT_EQ(runner_.Run(tx, environment).gas_used, 0);
  // Too little for the parameters that come before everything else.
  environment = Environment(Mode::kDeliver);
  meter_ = GasMeter::Limited(params_gas / 2);
  result = runner_.Run(tx, environment);
  EXPECT_EQ(result.error, Error::kOutOfGas);
  EXPECT_EQ(result.gas_wanted, 0);
  EXPECT_GT(result.gas_used, params_gas / 2);
  EXPECT_EQ(state_.Get(collector), chain_->main_store()->Get(collector));
}

}  // namespace
}  // namespace blockreplay::keeper::gno
