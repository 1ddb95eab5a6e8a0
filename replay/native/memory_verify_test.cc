#include "replay/native/memory_verify.h"

#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace blockreplay::replay {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kFixtures = BLOCKREPLAY_FIXTURES;

// Kinds whose every phase must be executed and matched.
void ExpectAllMatched(const keeper::Coverage& coverage, const std::string& kind) {
  const auto found = coverage.by_kind.find(kind);
  ASSERT_NE(found, coverage.by_kind.end()) << kind;
  EXPECT_GT(found->second.phases, 0) << kind;
  EXPECT_EQ(found->second.executed, found->second.phases)
      << kind << ": " << found->second.not_native;
  EXPECT_EQ(found->second.matched, found->second.phases)
      << kind << (found->second.differences.empty() ? "" : found->second.differences[0].text);
}

TEST(MemoryVerifyTest, SendsMatchTheNode) {
  MemoryVerifyOptions options;
  options.verifier.only_kinds = {"Send", "?"};
  const absl::StatusOr<keeper::Coverage> coverage =
      MemoryVerify(kFixtures + "/thor-churn", options);
  ASSERT_TRUE(coverage.ok()) << coverage.status();
  ExpectAllMatched(*coverage, "/cosmos.bank.v1beta1.MsgSend");
  ExpectAllMatched(*coverage, "/cosmos.bank.v1beta1.MsgSend (failed)");
  ExpectAllMatched(*coverage, "/types.MsgSend (failed)");
  ExpectAllMatched(*coverage, "/types.MsgSend+/cosmos.bank.v1beta1.MsgSend");
  ExpectAllMatched(*coverage, "? (failed)");
  for (const auto& [kind, of_kind] : coverage->by_kind) {
    EXPECT_THAT(of_kind.differences, IsEmpty()) << kind;
  }
}

// Deposits, sends and observations with random memos, coins and mimirs, most of which fail
// somewhere; messages of all types with random content, signed or not; and what differed once: text
// that is no UTF-8, extension options, addresses that make a decoder panic.
TEST(MemoryVerifyTest, GeneratedTrafficMatchesTheNode) {
  for (const char* name : {"aggregators-mainnet", "deposits-1", "deposits-2", "deposits-3",
                           "hand-made", "hand-made-2", "other-messages"}) {
    const absl::StatusOr<keeper::Coverage> coverage =
        MemoryVerify(kFixtures + "/generated/" + name, {});
    ASSERT_TRUE(coverage.ok()) << name << ": " << coverage.status();
    for (const auto& [kind, unused] : coverage->by_kind) {
      SCOPED_TRACE(name);
      if (kind != "END") ExpectAllMatched(*coverage, kind);
    }
  }
}

// What has no native code must never count.
TEST(MemoryVerifyTest, PhasesWithoutNativeCodeAreNeitherExecutedNorMatched) {
  MemoryVerifyOptions options;
  options.to = 60;
  const absl::StatusOr<keeper::Coverage> coverage =
      MemoryVerify(kFixtures + "/thor-churn", options);
  ASSERT_TRUE(coverage.ok()) << coverage.status();
  const keeper::KindCoverage& end = coverage->by_kind.at("END");
  EXPECT_EQ(end.phases, 10);
  EXPECT_EQ(end.executed, 0);
  EXPECT_EQ(end.matched, 0);
  EXPECT_EQ(end.matched_writes, 0);
  EXPECT_GT(end.writes, 0);
}

// A result that is an echo of the recording would go along with each of these.
class FalsifiedRecordingTest : public ::testing::Test {
 protected:
  static constexpr const char* kKind = "/cosmos.bank.v1beta1.MsgSend";

  // Applies `change` to each successful bank send, and expects that no such phase matches and that
  // the difference says `expected`.
  template <typename Change>
  void ExpectDifference(const std::string& expected, Change&& change) {
    MemoryVerifyOptions options;
    options.to = 110;
    options.verifier.only_kinds = {kKind};
    const auto touch = [&](v1::Block* block, v1::BlockPhases* phases) {
      for (int i = 0; i < block->request().txs_size(); ++i) {
        if (block->request().txs(i).find(kKind) == std::string::npos) continue;
        auto* result = block->mutable_response()->mutable_tx_results(i);
        if (result->code() != 0) continue;
        for (auto& phase : *phases->mutable_phases()) {
          if (phase.kind() == v1::Phase::TX && phase.tx_index() == i) change(result, &phase);
        }
      }
    };
    const std::string recording = kFixtures + "/thor-2000";
    const absl::StatusOr<keeper::Coverage> honest = MemoryVerify(recording, options);
    ASSERT_TRUE(honest.ok()) << honest.status();
    ASSERT_GT(honest->by_kind.at(kKind).phases, 0);
    ASSERT_EQ(honest->by_kind.at(kKind).matched, honest->by_kind.at(kKind).phases);

    options.falsify = touch;
    const absl::StatusOr<keeper::Coverage> falsified = MemoryVerify(recording, options);
    ASSERT_TRUE(falsified.ok()) << falsified.status();
    int64_t matched = 0;
    std::string text;
    for (const auto& [kind, of_kind] : falsified->by_kind) {
      if (kind.find(kKind) == std::string::npos) continue;
      matched += of_kind.matched;
      if (!of_kind.differences.empty()) text += of_kind.differences[0].text;
    }
    const int64_t failed = honest->by_kind.contains(std::string(kKind) + " (failed)")
                               ? honest->by_kind.at(std::string(kKind) + " (failed)").matched
                               : 0;
    const int64_t multi =
        honest->by_kind.contains("/types.MsgSend+/cosmos.bank.v1beta1.MsgSend (failed)")
            ? honest->by_kind.at("/types.MsgSend+/cosmos.bank.v1beta1.MsgSend (failed)").matched
            : 0;
    EXPECT_EQ(matched, failed + multi) << falsified->TableToString();
    EXPECT_THAT(text, HasSubstr(expected));
  }
};

TEST_F(FalsifiedRecordingTest, Code) {
  ExpectDifference("code:", [](auto* result, auto*) {
    result->set_code(5);
    result->set_codespace("sdk");
  });
}
TEST_F(FalsifiedRecordingTest, GasUsed) {
  ExpectDifference("gas used:",
                   [](auto* result, auto*) { result->set_gas_used(result->gas_used() + 3); });
}
TEST_F(FalsifiedRecordingTest, GasWanted) {
  ExpectDifference("gas wanted:", [](auto* result, auto*) { result->set_gas_wanted(0); });
}
TEST_F(FalsifiedRecordingTest, Data) {
  ExpectDifference("data:", [](auto* result, auto*) { result->mutable_data()->push_back('x'); });
}
TEST_F(FalsifiedRecordingTest, Event) {
  ExpectDifference("event", [](auto* result, auto*) {
    result->mutable_events(0)->mutable_attributes(0)->set_value("other");
  });
}
TEST_F(FalsifiedRecordingTest, MissingEvent) {
  ExpectDifference("native", [](auto* result, auto*) { result->mutable_events()->RemoveLast(); });
}
TEST_F(FalsifiedRecordingTest, Value) {
  ExpectDifference("write to", [](auto*, auto* phase) {
    phase->mutable_writes(phase->writes_size() - 1)->mutable_value()->push_back('1');
  });
}
TEST_F(FalsifiedRecordingTest, MissingWrite) {
  ExpectDifference("no write", [](auto*, auto* phase) {
    // The last one of its key: sends write each key more than once.
    const std::string key = phase->writes(0).key();
    for (int i = phase->writes_size() - 1; i >= 0; --i) {
      if (phase->writes(i).key() == key) phase->mutable_writes()->DeleteSubrange(i, 1);
    }
  });
}
TEST_F(FalsifiedRecordingTest, DeleteInsteadOfAnEmptyValue) {
  ExpectDifference("deleted", [](auto*, auto* phase) {
    for (auto& write : *phase->mutable_writes()) {
      if (write.value().empty()) write.set_delete_(true);
    }
  });
}

TEST(CodecTest, EveryStoredValueOfTheChurnRecordingIsEncodedAsStored) {
  keeper::thorchain::CodecTable table;
  const absl::Status status = AddRecordingTo(kFixtures + "/thor-churn", &table);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(table.AllEqual()) << table.ToString();
  EXPECT_GT(table.rows().size(), 60u);
}

TEST(CodecTest, EveryStoredValueOfTheRegressionSuitesIsEncodedAsStored) {
  keeper::thorchain::CodecTable table;
  int recordings = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kFixtures + "/regression")) {
    if (!entry.is_directory()) continue;
    ++recordings;
    const absl::Status status = AddRecordingTo(entry.path().string(), &table);
    ASSERT_TRUE(status.ok()) << entry.path() << ": " << status;
  }
  EXPECT_GT(recordings, 50);
  EXPECT_TRUE(table.AllEqual()) << table.ToString();
}

TEST(CodecTest, TellsDifferentAndUnknownValues) {
  keeper::thorchain::CodecTable table;
  // A number in more bytes than it needs, and a key of no group.
  table.Add("thorchain", "mimir//X", std::string("\x08\x81\x00", 3));
  EXPECT_FALSE(table.AllEqual());
  keeper::thorchain::CodecTable unknown;
  unknown.Add("thorchain", "nothing//X", "");
  EXPECT_FALSE(unknown.AllEqual());
}

}  // namespace
}  // namespace blockreplay::replay
