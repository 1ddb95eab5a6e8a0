// Replays the recording of 300 blocks natively, and compares every result and every write with what
// the real node did.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "absl/strings/escaping.h"
#include "blockreplay/v1/recording.pb.h"
#include "keeper/gno/testing/native_chain.h"
#include "keeper/gno/testing/recording_file.h"
#include "nlohmann/json.hpp"

namespace blockreplay::keeper::gno::testing {
namespace {

constexpr char kRecording[] = BLOCKREPLAY_FIXTURES "/gno-sends-300/";

std::string Hex(std::string_view bytes) {
  return absl::BytesToHexString(absl::string_view(bytes.data(), bytes.size()));
}

// By store and key; nothing for a deletion.
using Writes = std::map<std::pair<std::string, std::string>, std::optional<std::string>>;

Writes Recorded(const v1::Phase& phase) {
  Writes writes;
  for (const auto& write : phase.writes()) {
    writes[{write.store_key(), write.key()}] =
        write.delete_() ? std::nullopt : std::optional(write.value());
  }
  return writes;
}

Writes Native(const sdk::MultiStore& phase) {
  Writes writes;
  const char* const names[] = {"base", "main"};
  for (const sdk::StoreId id : {kBaseStore, kMainStore}) {
    for (const auto& [key, operation] : phase.store(id).operations()) {
      writes[{names[id], std::string(key)}] =
          operation.deleted ? std::nullopt : std::optional(std::string(operation.value));
    }
  }
  return writes;
}

std::string Describe(const Writes& writes) {
  std::ostringstream out;
  for (const auto& [key, value] : writes)
    out << key.first << " " << Hex(key.second) << " = " << (value ? Hex(*value) : "deleted")
        << "\n";
  return out.str();
}

// A line of checktx.jsonl.zst.
struct CheckedTx {
  int64_t state_height;
  int64_t block;
  int tx;
  std::string error;
  int64_t gas_wanted;
  int64_t gas_used;
};

class RecordingTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto blocks = ReadMessages<v1::Block>(std::string(kRecording) + "blocks.zst");
    ASSERT_TRUE(blocks.ok()) << blocks.status();
    blocks_ = new std::vector<v1::Block>(*std::move(blocks));
    auto phases = ReadMessages<v1::BlockPhases>(std::string(kRecording) + "phases.zst");
    ASSERT_TRUE(phases.ok()) << phases.status();
    phases_ = new std::vector<v1::BlockPhases>(*std::move(phases));
    auto checked = ReadZstd(std::string(kRecording) + "checktx.jsonl.zst");
    ASSERT_TRUE(checked.ok()) << checked.status();
    checked_ = new std::vector<CheckedTx>();
    std::istringstream lines(*checked);
    for (std::string line; std::getline(lines, line);) {
      const auto json = nlohmann::json::parse(line);
      checked_->push_back({json.at("state_height"), json.at("block"), json.at("tx"),
                           json.at("error"), json.at("gas_wanted"), json.at("gas_used")});
    }
  }

  static std::vector<v1::Block>* blocks_;
  static std::vector<v1::BlockPhases>* phases_;
  static std::vector<CheckedTx>* checked_;
};
std::vector<v1::Block>* RecordingTest::blocks_ = nullptr;
std::vector<v1::BlockPhases>* RecordingTest::phases_ = nullptr;
std::vector<CheckedTx>* RecordingTest::checked_ = nullptr;

class ExecutionTest : public RecordingTest, public ::testing::WithParamInterface<bool> {};

TEST_P(ExecutionTest, ExecutesEveryBlockAsTheNodeDid) {
  const bool parallel = GetParam();
  storage::WorkerPool workers(2, "verify");
  NativeChain chain(blocks_->at(0).init_chain().chain_id(), parallel ? &workers : nullptr);
  ASSERT_TRUE(chain.InitChain(blocks_->at(0).init_chain()).ok());
  size_t txs = 0;
  for (size_t b = 0; b < blocks_->size(); ++b) {
    const v1::Block& block = blocks_->at(b);
    const auto& phases = phases_->at(b).phases();
    auto phase = phases.begin();
    if (b == 0) {
      Writes genesis = Recorded(*phase++);
      const Writes direct = Native(chain.genesis_direct());
      ASSERT_EQ(direct.size(), 1u);
      Writes native = Native(chain.phase());
      native.insert(direct.begin(), direct.end());
      ASSERT_EQ(Describe(native), Describe(genesis));
    }
    chain.BeginBlock(block.request());
    ASSERT_EQ(phase->kind(), v1::Phase::BEGIN_BLOCK);
    ASSERT_TRUE(phase++->writes().empty());
    for (int i = 0; i < block.request().txs_size(); ++i, ++txs) {
      const auto where = [&] {
        return "block " + std::to_string(block.height()) + " transaction " + std::to_string(i);
      };
      const absl::StatusOr<PhaseResult> result = chain.DeliverTx(i);
      const auto& expected = block.response().tx_results(i);
      ASSERT_TRUE(result.ok()) << where() << ": " << result.status();
      ASSERT_EQ(result->codespace, expected.codespace()) << where() << " " << result->log;
      ASSERT_EQ(result->code, expected.code()) << where();
      ASSERT_EQ(result->gas_wanted, expected.gas_wanted()) << where();
      ASSERT_EQ(result->gas_used, expected.gas_used()) << where();
      // A phase without writes may be left out.
      Writes writes;
      if (phase != phases.end() && phase->kind() == v1::Phase::TX && phase->tx_index() == i)
        writes = Recorded(*phase++);
      ASSERT_EQ(Native(chain.phase()), writes) << where() << "\n"
                                               << Describe(Native(chain.phase())) << "expected\n"
                                               << Describe(writes);
    }
    ASSERT_TRUE(chain.EndBlock().ok());
    ASSERT_EQ(phase->kind(), v1::Phase::END_BLOCK);
    ASSERT_EQ(Describe(Native(chain.phase())), Describe(Recorded(*phase++)));
    ASSERT_EQ(phase, phases.end());
    const auto app_hash = chain.Commit();
    ASSERT_TRUE(app_hash.ok());
    ASSERT_EQ(Hex({reinterpret_cast<const char*>(app_hash->data()), app_hash->size()}),
              Hex(block.app_hash()))
        << "block " << block.height();
  }
  EXPECT_EQ(blocks_->size(), 300u);
  EXPECT_EQ(txs, 30000u);
}

INSTANTIATE_TEST_SUITE_P(Signatures, ExecutionTest, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "Parallel" : "Serial"; });

TEST_F(RecordingTest, ChecksAndRechecksAsTheNodeDid) {
  storage::WorkerPool workers(2, "verify");
  std::vector<std::unique_ptr<Checker>> checkers;
  for (const CheckOptions& options :
       std::vector<CheckOptions>{{.rules = {}, .memo_params = false, .memo_fee_collector = false},
                                 {.rules = {}, .memo_params = true, .memo_fee_collector = false},
                                 {.rules = {}, .memo_params = true, .memo_fee_collector = true},
                                 {.rules = {}, .signature_cache = 1 << 14}}) {
    checkers.push_back(std::make_unique<Checker>(options));
    checkers.push_back(std::make_unique<Checker>(options, &workers));
  }
  NativeChain chain(blocks_->at(0).init_chain().chain_id());
  ASSERT_TRUE(chain.InitChain(blocks_->at(0).init_chain()).ok());
  size_t passed = 0;
  auto next = checked_->begin();
  for (const v1::Block& block : *blocks_) {
    ASSERT_TRUE(chain.Execute(block.request()).ok());
    std::vector<std::string_view> announced;
    for (auto it = next; it != checked_->end() && it->state_height == block.height(); ++it)
      announced.push_back(blocks_->at(static_cast<size_t>(it->block - 1)).request().txs(it->tx));
    for (auto& checker : checkers) {
      checker->Committed(chain.committed(), chain.main_store());
      checker->Announce(announced);
    }
    for (; next != checked_->end() && next->state_height == block.height(); ++next) {
      const std::string& tx =
          blocks_->at(static_cast<size_t>(next->block - 1)).request().txs(next->tx);
      std::optional<int64_t> gas_of_failure;
      for (size_t i = 0; i < checkers.size(); ++i) {
        const TxResult result = checkers[i]->Check(tx);
        ASSERT_EQ(TypeUrl(result.error), next->error)
            << "block " << next->block << " transaction " << next->tx << " at "
            << next->state_height << " options " << i << " " << result.log;
        ASSERT_EQ(result.gas_wanted, next->gas_wanted);
        if (result.error == Error::kNone) {
          ASSERT_EQ(result.gas_used, next->gas_used);
        } else {
          // A running total that says nothing about the transaction, but the same with every
          // option.
          if (!gas_of_failure.has_value()) gas_of_failure = result.gas_used;
          ASSERT_EQ(result.gas_used, *gas_of_failure);
        }
      }
      if (next->error.empty()) ++passed;
    }
  }
  EXPECT_EQ(next, checked_->end());
  EXPECT_EQ(checked_->size(), 59190u);
  EXPECT_EQ(passed, 58679u);
}

}  // namespace
}  // namespace blockreplay::keeper::gno::testing
