#include "replay/import/formats/store_trace.h"

#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "replay/recording/test_recording.h"

namespace blockreplay::replay {
namespace {

using cosmos::store::v1beta1::StoreKVPair;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> Texts(const auto& writes) {
  std::vector<std::string> texts;
  for (const StoreKVPair& write : writes) texts.push_back(write.SerializeAsString());
  return texts;
}

// Traces of a real node, with the recordings of the same runs.
class NodeTraceTest : public ::testing::TestWithParam<const char*> {};

TEST_P(NodeTraceTest, ItsCommitsAreTheBlocksChangeSets) {
  const std::string dir = std::string(BLOCKREPLAY_FIXTURES "/regression/") + GetParam();
  auto reader = StoreTraceReader::Open(dir + "/trace.jsonl.zst");
  ASSERT_TRUE(reader.ok()) << reader.status();
  StoreTraceBlocks blocks(*std::move(reader));
  for (const v1::Block& block : ReadBlocks(dir)) {
    const auto traced = blocks.Next();
    ASSERT_TRUE(traced.ok()) << traced.status();
    ASSERT_TRUE(traced->has_value()) << "at height " << block.height();
    EXPECT_EQ((*traced)->height, block.height());
    EXPECT_EQ(Texts((*traced)->change_set), Texts(block.change_set()))
        << "height " << block.height();
  }
  const auto end = blocks.Next();
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_FALSE(end->has_value());
}

INSTANTIATE_TEST_SUITE_P(Regression, NodeTraceTest,
                         ::testing::Values("send-send", "swaps-swaps",
                                           "observe-txout-observe-txout"));

// Traces of a small SDK 0.53 application, with what its stores' listeners heard.
class ApplicationTraceTest : public ::testing::TestWithParam<const char*> {};

TEST_P(ApplicationTraceTest, ItsCommitsAreWhatReachedTheStores) {
  const std::string path = BLOCKREPLAY_FIXTURES "/import/trace-sdk-0.53/" + std::string(GetParam());
  auto reader = StoreTraceReader::Open(path + ".jsonl");
  ASSERT_TRUE(reader.ok()) << reader.status();
  StoreTraceBlocks blocks(*std::move(reader));
  const auto expected = nlohmann::json::parse(ReadBytes(path + ".jsonl.expected.json"));
  // The last block counts once the one after it has begun.
  for (size_t i = 0; i + 1 < expected.size(); ++i) {
    const auto traced = blocks.Next();
    ASSERT_TRUE(traced.ok()) << traced.status();
    ASSERT_TRUE(traced->has_value()) << expected[i]["height"];
    EXPECT_EQ((*traced)->height, expected[i]["height"]);
    std::vector<std::string> writes;
    for (const auto& write : expected[i]["writes"]) {
      StoreKVPair pair;
      pair.set_store_key(write["store"]);
      pair.set_delete_(write["delete"]);
      pair.set_key(absl::HexStringToBytes(write["key"].get<std::string>()));
      pair.set_value(absl::HexStringToBytes(write["value"].get<std::string>()));
      writes.push_back(pair.SerializeAsString());
    }
    EXPECT_EQ(Texts((*traced)->change_set), writes) << "height " << (*traced)->height;
  }
}

INSTANTIATE_TEST_SUITE_P(Sdk53, ApplicationTraceTest,
                         ::testing::Values("validator", "validator-restarted", "catching-up",
                                           "catching-up-restarted"));

class StoreTraceTest : public ::testing::Test {
 protected:
  static std::string Line(const std::string& operation, const std::string& key,
                          const std::string& metadata) {
    return R"({"operation":")" + operation + R"(","key":")" + key +
           R"(","value":"dg==","metadata":)" + metadata + "}\n";
  }
  std::string ErrorOf(const std::string& text) {
    WriteBytes(folder_.Path("trace.jsonl"), text);
    auto reader = StoreTraceReader::Open(folder_.Path("trace.jsonl"));
    if (!reader.ok()) return std::string(reader.status().message());
    TraceOperation operation;
    for (;;) {
      const auto more = (*reader)->Next(&operation);
      if (!more.ok()) return std::string(more.status().message());
      if (!*more) return "";
    }
  }
  static TraceRun Run(std::initializer_list<std::pair<const char*, const char*>> writes) {
    TraceRun run;
    for (const auto& [store, key] : writes) {
      StoreKVPair& write = run.writes.emplace_back();
      write.set_store_key(store);
      write.set_key(key);
    }
    return run;
  }
  static std::string Flush(const TraceRun& run) {
    std::string text;
    for (const StoreKVPair& write : LastFlush(run)) text += write.store_key() + write.key() + " ";
    return text;
  }

  TemporaryDir folder_;
};

TEST_F(StoreTraceTest, LastFlushIsWhatOneLayerWrites) {
  EXPECT_EQ(Flush(Run({})), "");
  EXPECT_EQ(Flush(Run({{"b", "1"}, {"b", "2"}, {"a", "1"}})), "b1 b2 a1 ");
  // A nested layer before it: its store comes again, or its key.
  EXPECT_EQ(Flush(Run({{"a", "1"}, {"b", "1"}, {"a", "1"}, {"a", "2"}})), "b1 a1 a2 ");
  EXPECT_EQ(Flush(Run({{"a", "1"}, {"a", "2"}, {"a", "1"}, {"a", "2"}, {"b", "7"}})), "a1 a2 b7 ");
  EXPECT_EQ(Flush(Run({{"a", "2"}, {"a", "2"}})), "a2 ");
}

TEST_F(StoreTraceTest, SaysWhichLineIsDamaged) {
  const std::string good = Line("write", "aw==", R"({"store_name":"a","blockHeight":3})");
  EXPECT_EQ(ErrorOf(good + Line("delete", "aw==", "null")), "");
  EXPECT_THAT(ErrorOf(good + "{}{}\n"), HasSubstr("trace.jsonl: line 2: it is no JSON object"));
  EXPECT_THAT(ErrorOf(good + "{}\n"), HasSubstr("line 2: it needs the text operation"));
  EXPECT_THAT(ErrorOf(Line("writes", "aw==", "null")), HasSubstr("operation is \"writes\""));
  EXPECT_THAT(ErrorOf(Line("write", "a", "null")), HasSubstr("base64"));
  EXPECT_THAT(ErrorOf(Line("write", "aw==", R"({"blockHeight":-1})")), HasSubstr("no height"));
  EXPECT_THAT(ErrorOf(Line("write", "aw==", R"({"blockHeight":"5"})")), HasSubstr("no height"));
  // A node that was killed leaves half a line.
  EXPECT_EQ(ErrorOf(good + R"({"operation":"wri)"), "");
}

TEST_F(StoreTraceTest, ABlockCountsOnlyWhenALaterOneHasBegun) {
  const auto heights = [&](const std::string& text) {
    WriteBytes(folder_.Path("trace.jsonl"), text);
    StoreTraceBlocks blocks(StoreTraceReader::Open(folder_.Path("trace.jsonl")).value());
    std::vector<int64_t> found;
    for (;;) {
      const auto block = blocks.Next();
      EXPECT_TRUE(block.ok()) << block.status();
      if (!block.ok() || !block->has_value()) return found;
      found.push_back((*block)->height);
    }
  };
  const std::string seven = Line("write", "aw==", R"({"store_name":"a","blockHeight":7})");
  const std::string eight = Line("read", "aw==", R"({"store_name":"a","blockHeight":8})");
  const std::string nine = Line("write", "aw==", R"({"store_name":"a","blockHeight":9})");
  EXPECT_THAT(heights(seven), ElementsAre());
  EXPECT_THAT(heights(seven + eight), ElementsAre(7));
  EXPECT_THAT(heights(seven + eight + nine), ElementsAre(7, 8));
  // A validating node that was started in the middle of the chain: the first block has no label.
  const std::string none = Line("write", "aw==", R"({"store_name":"a"})");
  EXPECT_THAT(heights(none + seven + eight), ElementsAre(7, 8));
  EXPECT_THAT(heights(none + seven + none + eight), ElementsAre(7, 8));
  // A query reads with the new label while the commit of the old one is being written.
  EXPECT_THAT(heights(none + seven + eight + seven + eight + nine), ElementsAre(7, 8, 9));
}

TEST_F(StoreTraceTest, SaysWhereTheNodeWasRestarted) {
  WriteBytes(folder_.Path("trace.jsonl"),
             Line("write", "aw==", R"({"store_name":"a","blockHeight":7})") +
                 Line("write", "aw==", R"({"store_name":"a","blockHeight":8})") +
                 Line("write", "aw==", R"({"store_name":"a"})"));
  StoreTraceBlocks blocks(StoreTraceReader::Open(folder_.Path("trace.jsonl")).value());
  absl::Status status;
  for (bool more = true; more && status.ok();) {
    const auto block = blocks.Next();
    status = block.status();
    more = block.ok() && block->has_value();
  }
  EXPECT_THAT(status.message(), HasSubstr("line 3: has no blockHeight, but 8 was met before"));
}

}  // namespace
}  // namespace blockreplay::replay
