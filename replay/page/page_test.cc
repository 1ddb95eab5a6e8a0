#include "replay/page/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "profiling/profile_file.h"
#include "profiling/profile_view.h"
#include "profiling/test_profile.h"
#include "replay/page/block_columns.h"
#include "replay/page/node_phases.h"
#include "replay/page/profile_data.h"

namespace blockreplay::replay {
namespace {

using nlohmann::json;
using profiling::ProfileView;
using profiling::TestProfile;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr char kHeader[] =
    "pass,height,txs,writes,deletes,change_set_bytes,block_ms,decode_ms,apply_ms,begin_block_ms,"
    "deliver_tx_ms,end_block_ms,hash_ms,commit_ms,other_ms,bytes_written,compaction_bytes,l0_files,"
    "stalls,stall_ms,rss_bytes,allocations,allocated_bytes,app_hash,results_hash\n";

std::string Row(int height, const std::string& block_ms) {
  return "1," + std::to_string(height) + ",3,40,5,600," + block_ms +
         ",0.1,0.2,0,0,0,0.3,0.4,0.5,1000,2000,2,0,0.000,3000000,70,8000,ab12,cd34\n";
}

TEST(BlockColumnsTest, RowsBecomeColumnsOfNumbers) {
  const auto blocks = ReadBlockColumns(kHeader + Row(7, "1.500000") + Row(8, "2.25"));
  ASSERT_TRUE(blocks.ok()) << blocks.status();
  EXPECT_EQ(blocks->columns.at("height").dump(), "[7,8]");
  EXPECT_EQ(blocks->columns.at("block_ms").dump(), "[1.5,2.25]");
  EXPECT_EQ(blocks->columns.at("rss_bytes").dump(), "[3000000,3000000]");
  EXPECT_FALSE(blocks->columns.contains("app_hash"));
  EXPECT_EQ(blocks->rows_left_out, 0);
}

TEST(BlockColumnsTest, TellsHowManyRowsItLeavesOut) {
  const auto blocks = ReadBlockColumns(kHeader + Row(7, "1") + Row(8, "2") + Row(9, "3"), 1);
  ASSERT_TRUE(blocks.ok()) << blocks.status();
  EXPECT_EQ(blocks->columns.at("height").dump(), "[7]");
  EXPECT_EQ(blocks->rows_left_out, 2);
}

TEST(BlockColumnsTest, RefusesOtherText) {
  const std::string good = kHeader + Row(7, "1");
  for (const auto& [text, message] : std::vector<std::pair<std::string, std::string>>{
           {"", "no column pass"},
           {"pass,height\n1,2\n", "no column txs"},
           {good + Row(8, "fast"), "line 3: block_ms is no number"},
           {good + "1,2,3\n", "line 3 does not have 25 fields"},
           {good + Row(8, "1,1"), "line 3"},
           {good + "\n", "line 3 does not have 25 fields"}}) {
    const auto columns = ReadBlockColumns(text);
    EXPECT_THAT(std::string(columns.status().message()), HasSubstr(message));
  }
}

TEST(NodePhasesTest, StacksOfANode) {
  const std::vector<std::string> finalize = {
      "github.com/cosmos/cosmos-sdk/baseapp.(*BaseApp).FinalizeBlock"};
  const auto with = [&](std::vector<std::string> inner) {
    inner.insert(inner.begin(), finalize.begin(), finalize.end());
    return NodePhaseOf(inner);
  };
  EXPECT_EQ(with({"github.com/cosmos/cosmos-sdk/baseapp.(*BaseApp).deliverTx"}), "deliver_tx");
  EXPECT_EQ(with({"github.com/cosmos/cosmos-sdk/baseapp.(*BaseApp).beginBlock"}), "begin_block");
  EXPECT_EQ(with({"github.com/cosmos/cosmos-sdk/baseapp.(*BaseApp).endBlock"}), "end_block");
  EXPECT_EQ(with({"github.com/cosmos/cosmos-sdk/baseapp.(*BaseApp).workingHash"}), "hash");
  EXPECT_EQ(with({}), "other");
  // A node that compacts or collects garbage in a transaction compacts and collects.
  EXPECT_EQ(
      with({"github.com/cosmos/cosmos-sdk/baseapp.(*BaseApp).runTx", "runtime.gcAssistAlloc"}),
      "gc");
  EXPECT_EQ(NodePhaseOf({"github.com/syndtr/goleveldb/leveldb.(*DB).tCompaction"}), "compaction");
  EXPECT_EQ(NodePhaseOf({"cosmossdk.io/store/rootmulti.(*Store).Commit",
                         "github.com/cosmos/iavl.(*MutableTree).SaveVersion",
                         "github.com/cosmos/iavl.(*Node).hashWithCount"}),
            "hash");
}

TEST(NodePhasesTest, OurLabelsDecideWhereThereAreAny) {
  TestProfile profile;
  profile.Add({"x).DeliverTx"}, {1, 10}, {{"phase", "hash"}, {"thread_role", "main"}})
      .Add({"x"}, {1, 20}, {{"thread_role", "compaction"}})
      .Add({"x"}, {1, 40}, {{"thread_role", "main"}})
      .Add({"x"}, {1, 80});
  EXPECT_THAT(SumByPhase(*ProfileView::Create(profile.profile()), 1),
              UnorderedElementsAre(Pair("hash", 10), Pair("compaction", 20), Pair("other", 120)));
  ProfileView labelled = *ProfileView::Create(profile.profile());
  LabelNodePhases(&labelled);
  EXPECT_THAT(SumByPhase(labelled, 0),
              UnorderedElementsAre(Pair("hash", 1), Pair("compaction", 1), Pair("other", 2)));
}

TEST(NodePhasesTest, LabelsWhatIsANodesAndNothingElse) {
  TestProfile profile;
  profile.Add({"x", "x).DeliverTx"}, {1, 10}).Add({"x"}, {1, 20});
  ProfileView node = *ProfileView::Create(profile.profile());
  LabelNodePhases(&node);
  EXPECT_THAT(SumByPhase(node, 1), UnorderedElementsAre(Pair("deliver_tx", 10), Pair("other", 20)));
  EXPECT_THAT(node.LabelKeys(), ElementsAre("phase"));
  TestProfile other;
  other.Add({"x", "y"}, {1, 10});
  ProfileView program = *ProfileView::Create(other.profile());
  LabelNodePhases(&program);
  EXPECT_THAT(program.LabelKeys(), ElementsAre());
}

// The sums are what `go tool pprof -top -focus … -ignore …` gives with the functions of each phase.
TEST(NodePhasesTest, ProfilesOfARealNode) {
  const auto phases_of = [](const char* name, const char* type) {
    const auto profile = profiling::ReadProfile(std::string(PAGE_TESTDATA "/") + name);
    EXPECT_TRUE(profile.ok()) << profile.status();
    ProfileView view = *ProfileView::Create(*profile);
    LabelNodePhases(&view);
    return SumByPhase(view, *view.TypeNamed(type));
  };
  EXPECT_THAT(phases_of("testhost.cpu.pb.gz", "cpu"),
              UnorderedElementsAre(Pair("gc", 490'000'000), Pair("flush", 40'000'000),
                                   Pair("compaction", 20'000'000), Pair("hash", 400'000'000),
                                   Pair("commit", 850'000'000), Pair("begin_block", 10'000'000),
                                   Pair("deliver_tx", 110'000'000), Pair("other", 170'000'000)));
  EXPECT_THAT(
      phases_of("testhost.heap.pb.gz", "alloc_space"),
      UnorderedElementsAre(Pair("flush", 533'557), Pair("compaction", 0), Pair("hash", 92'287'968),
                           Pair("commit", 970'990'176), Pair("begin_block", 5'801'172),
                           Pair("deliver_tx", 64'499'366), Pair("other", 128'494'902)));
}

TEST(ProfileDataTest, StacksShareTheirCallers) {
  TestProfile profile;
  profile.Add({"a", "main"}, {1, 10}, {{"phase", "hash"}})
      .Add({"b", "main"}, {2, 20}, {{"phase", "hash"}})
      .Add({"main"}, {4, 40});
  const json data = ProfileToJson("cpu", *ProfileView::Create(profile.profile()));
  // Nodes: main below the root, a and b below main.
  const auto function = [&](size_t node) {
    return data["functions"][data["nodes"][2 * node + 1].get<size_t>()].get<std::string>();
  };
  ASSERT_EQ(data["nodes"].size(), 6u);
  EXPECT_EQ(data["nodes"][0], -1);
  EXPECT_EQ(function(0), "main");
  EXPECT_EQ(function(1), "a");
  EXPECT_EQ(data["nodes"][2], 0);
  EXPECT_EQ(function(2), "b");
  EXPECT_EQ(data["labels"].dump(), R"([{"phase":"hash"},{}])");
  EXPECT_EQ(data["samples"].dump(), "[1,0,1,10,2,0,2,20,0,1,4,40]");
  EXPECT_EQ(data["default"], 1);
  EXPECT_EQ(data["phases"].dump(), R"({"cpu":{"hash":30,"other":40}})");
}

json MinimalReport() {
  json phases;
  for (const char* phase :
       {"decode", "apply", "begin_block", "deliver_tx", "end_block", "hash", "commit", "other"}) {
    phases[phase] = 1.5;
  }
  json cpu;
  for (const char* part :
       {"process", "block_execution", "commit", "compaction", "flush", "other"}) {
    cpu[part] = 0.25;
  }
  return {{"tool", {{"revision", "12ab"}}},
          {"recording", {{"digest", "d"}, {"chain_id", "c"}, {"first", 1}, {"last", 2}}},
          {"host", {{"cores", 2}}},
          {"outcome", "verified"},
          {"app_hash_chain", "e"},
          {"blocks_verified", 2},
          {"blocks_measured", 2},
          {"wall_s", 1.0},
          {"block_ms", {{"p50", 1.0}}},
          {"phase_ms", phases},
          {"cpu_s", cpu},
          {"bytes_written", 5}};
}

TEST(CheckReportTest, NamesWhatIsMissing) {
  EXPECT_TRUE(CheckReport(MinimalReport()).ok()) << CheckReport(MinimalReport());
  json without = MinimalReport();
  without["cpu_s"].erase("flush");
  EXPECT_THAT(std::string(CheckReport(without).message()), HasSubstr("it has no cpu_s/flush"));
  without = MinimalReport();
  without["outcome"] = 7;
  EXPECT_THAT(std::string(CheckReport(without).message()), HasSubstr("it has no outcome"));
  EXPECT_FALSE(CheckReport(json::array()).ok());
  EXPECT_FALSE(CheckReport(json("text")).ok());
}

TEST(RenderPageTest, DataIsNeverMarkup) {
  TestProfile profile;
  profile.Add({"</script><script>alert(1)</script>", "<!-- {{d3.js}}", "bad\xff utf"}, {1, 10},
              {{"phase", "<b>"}});
  PageRun run;
  run.name = "<i>run</i>";
  run.report = MinimalReport();
  run.csv = kHeader + Row(7, "1");
  run.profiles.emplace_back("cpu", *ProfileView::Create(profile.profile()));
  const auto page = RenderPage({run}, std::nullopt, {{"version", "1"}, {"revision", "r"}});
  ASSERT_TRUE(page.ok()) << page.status();
  const size_t begin = page->find("id=\"data\">") + 10;
  const std::string data = page->substr(begin, page->find("</script>", begin) - begin);
  EXPECT_THAT(data, Not(HasSubstr("<")));
  const json parsed = json::parse(data, nullptr, false);
  ASSERT_TRUE(parsed.is_object());
  EXPECT_EQ(parsed["runs"][0]["name"], "<i>run</i>");
  EXPECT_EQ(parsed["runs"][0]["report"], run.report);
  EXPECT_EQ(parsed["runs"][0]["blocks"]["height"].dump(), "[7]");
  EXPECT_THAT(parsed["runs"][0]["profiles"][0]["functions"].dump(), HasSubstr("{{d3.js}}"));
}

TEST(RenderPageTest, NeedsNothingElse) {
  PageRun run;
  run.name = "run";
  run.report = MinimalReport();
  const auto page = RenderPage({run}, std::nullopt, {{"version", "1"}, {"revision", "r"}});
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_THAT(*page, HasSubstr("default-src 'none'"));
  for (const char* outside : {"<script src", "<link rel=\"stylesheet\"", "@import", "url(http"}) {
    EXPECT_THAT(*page, Not(HasSubstr(outside)));
  }
  for (const char* part : {"uPlot", "flamegraph", "d3js.org"}) EXPECT_THAT(*page, HasSubstr(part));
}

TEST(RenderPageTest, SaysWhichRunIsWrong) {
  PageRun run;
  run.name = "mine";
  run.report = MinimalReport();
  run.csv = "nonsense";
  const auto page = RenderPage({run}, std::nullopt, json::object());
  EXPECT_THAT(std::string(page.status().message()), HasSubstr("mine: line 1"));
}

}  // namespace
}  // namespace blockreplay::replay
