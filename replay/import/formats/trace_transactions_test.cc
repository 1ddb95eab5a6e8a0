#include "replay/import/formats/trace_transactions.h"

#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "replay/recording/test_recording.h"

namespace blockreplay::replay {
namespace {

using cosmos::store::v1beta1::StoreKVPair;

// Across stores the order of a phase means nothing, so writes are compared store by store.
std::map<std::string, std::vector<std::string>> ByStore(const auto& writes) {
  std::map<std::string, std::vector<std::string>> stores;
  for (const StoreKVPair& write : writes) {
    stores[write.store_key()].push_back(write.SerializeAsString());
  }
  return stores;
}

struct Suite {
  const char* name;
  int told;  // transactions whose writes the trace tells
};

class TracedTransactionsTest : public ::testing::TestWithParam<Suite> {
 protected:
  struct Case {
    v1::Block block;
    v1::BlockPhases phases;
    TracedBlock traced;
  };

  void SetUp() override {
    const std::string dir = std::string(BLOCKREPLAY_FIXTURES "/regression/") + GetParam().name;
    StoreTraceBlocks traced(StoreTraceReader::Open(dir + "/trace.jsonl.zst").value());
    const std::vector<v1::Block> blocks = ReadBlocks(dir);
    const std::vector<v1::BlockPhases> phases = ReadPhases(dir);
    for (size_t i = 0; i < blocks.size(); ++i) {
      cases_.push_back({blocks[i], phases[i], traced.Next().value().value()});
    }
  }

  std::vector<Case> cases_;
};

TEST_P(TracedTransactionsTest, AreThePhasesThatTheNodeRecorded) {
  int told = 0;
  for (const Case& c : cases_) {
    const TracedTransactions traced = TransactionsOfTrace(c.traced, c.block);
    ASSERT_EQ(traced.writes.size(), static_cast<size_t>(c.block.request().txs_size()));
    std::vector<std::map<std::string, std::vector<std::string>>> recorded(traced.writes.size());
    for (const v1::Phase& phase : c.phases.phases()) {
      if (phase.kind() != v1::Phase::TX) continue;
      recorded[static_cast<size_t>(phase.tx_index())] = ByStore(phase.writes());
    }
    for (size_t i = 0; i < traced.writes.size(); ++i) {
      const auto where = "height " + std::to_string(c.block.height()) + " tx " + std::to_string(i);
      if (!traced.writes[i].has_value()) {
        // Only a failed transaction may be left open.
        EXPECT_NE(c.block.response().tx_results(static_cast<int>(i)).code(), 0u) << where;
        continue;
      }
      ++told;
      EXPECT_TRUE(ByStore(*traced.writes[i]) == recorded[i]) << where;
    }
  }
  EXPECT_EQ(told, GetParam().told);
}

INSTANTIATE_TEST_SUITE_P(Regression, TracedTransactionsTest,
                         ::testing::Values(Suite{"send-send", 4}, Suite{"swaps-swaps", 5},
                                           Suite{"observe-txout-observe-txout", 2}));

}  // namespace
}  // namespace blockreplay::replay
