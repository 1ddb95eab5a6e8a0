#include "replay/minimize/minimize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "keeper/optimisations.h"
#include "replay/engine/run.h"
#include "replay/recording/check.h"
#include "replay/recording/recording_reader.h"
#include "replay/recording/test_recording.h"

namespace blockreplay::replay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string kFixtures = BLOCKREPLAY_FIXTURES;
const std::string kChurn = kFixtures + "/thor-churn";
const std::string kTail = kFixtures + "/regression-tail/swaps-streaming-swaps-from-41";
const std::string kGenesis = kFixtures + "/regression/send-send";

absl::Status NoProgress(int64_t) { return absl::OkStatus(); }

class SilentObserver : public RunObserver {
 public:
  void OnListen(const std::string&) override {}
  void OnOpen(const std::string&, const std::string&) override {}
  void OnRestore(const storage::SnapshotProgress&) override {}
  void OnPass(int64_t, int64_t) override {}
  void OnBlock(int64_t) override {}
};

struct Outcome {
  RunOutcome outcome;
  std::string message;  // of an error or a mismatch
  std::string app_hash;
  int64_t blocks = 0;
};

// `cold`: no node stays in memory from block to block.
Outcome Replay(RunOptions options, bool cold = false) {
  absl::StatusOr<RunPlan> plan = PlanRun(options);
  if (!plan.ok()) return {RunOutcome::kError, std::string(plan.status().message()), ""};
  if (cold) plan->multistore.cache_bytes = 0;
  SilentObserver observer;
  const RunResult result = ExecuteRun(*plan, "test", nullptr, &observer);
  return {result.outcome, result.mismatch + std::string(result.error.message()),
          absl::BytesToHexString(result.facts.app_hash), result.facts.blocks_verified};
}

Outcome Replay(const std::string& recording) {
  RunOptions options;
  options.recording = recording;
  return Replay(options);
}

std::string AppHashAt(const std::string& recording, int64_t height) {
  const absl::StatusOr<Manifest> manifest = LoadManifest(recording);
  BlockReader reader(recording, *manifest);
  v1::Block block;
  while (block.height() < height) EXPECT_TRUE(*reader.Next(&block));
  return absl::BytesToHexString(block.app_hash());
}

std::vector<v1::PartialStateItem> ReadBase(const std::string& recording) {
  PartialBaseReader reader(recording);
  std::vector<v1::PartialStateItem> items;
  for (;;) {
    absl::StatusOr<const v1::PartialStateItem*> item = reader.Next();
    EXPECT_TRUE(item.ok()) << item.status();
    if (!item.ok() || *item == nullptr) return items;
    items.push_back(**item);
  }
}

void WriteBase(const std::string& recording, const std::vector<v1::PartialStateItem>& items) {
  std::string bytes;
  for (const v1::PartialStateItem& item : items) bytes += Delimited(item);
  ReplaceFile(recording, std::string(kPartialBaseName), Compressed(bytes));
}

class MinimizeTest : public ::testing::Test {
 protected:
  std::string Make(const std::string& source, int64_t from, int64_t to,
                   ExecutionMode exec = ExecutionMode::kApply) {
    MinimizeOptions options;
    options.recording = source;
    options.output = dir_.Path(absl::StrCat("small-", ++made_));
    options.from = from;
    options.to = to;
    options.exec = exec;
    absl::StatusOr<MinimizeResult> result = Minimize(options, NoProgress);
    EXPECT_TRUE(result.ok()) << result.status();
    if (result.ok()) result_ = *std::move(result);
    return options.output;
  }

  // Verified to the end in each way in which a state can be kept.
  void ExpectReplays(const std::string& small, const std::string& source, int64_t from,
                     int64_t to) {
    const std::string app_hash = AppHashAt(source, to);
    for (const storage::Persistence persist :
         {storage::Persistence::kDeferred, storage::Persistence::kEvery}) {
      RunOptions options;
      options.recording = small;
      options.persist = persist;
      const Outcome outcome = Replay(options, persist == storage::Persistence::kEvery);
      EXPECT_EQ(outcome.outcome, RunOutcome::kVerified) << outcome.message;
      EXPECT_EQ(outcome.app_hash, app_hash);
      EXPECT_EQ(outcome.blocks, to - from + 1);
    }
    const absl::StatusOr<Manifest> manifest = LoadManifest(small);
    ASSERT_TRUE(manifest.ok()) << manifest.status();
    EXPECT_TRUE(CheckRecording(small, *manifest, [](int64_t) {}).ok());
    const absl::Status base = CheckPartialBase(small, *manifest);
    EXPECT_TRUE(base.ok()) << base;
  }

  TemporaryDir dir_;
  MinimizeResult result_;
  int made_ = 0;
};

TEST_F(MinimizeTest, RandomRangesReplayToTheSameAppHashes) {
  std::mt19937 random(20260115);
  for (int i = 0; i < 3; ++i) {
    const int64_t from = 101 + static_cast<int64_t>(random() % 200);
    const int64_t to = from + static_cast<int64_t>(random() % 20);
    SCOPED_TRACE(absl::StrCat(from, " to ", to));
    const std::string source = kFixtures + "/thor-2000";
    ExpectReplays(Make(source, from, to), source, from, to);
    EXPECT_GT(result_.omitted_keys, 0);
    EXPECT_LT(result_.bytes, result_.source_bytes);
  }
}

TEST_F(MinimizeTest, TheFirstBlocksOfARecordingAreARangeToo) {
  ExpectReplays(Make(kChurn, 51, 60), kChurn, 51, 60);
}

// Churn rewrites and deletes whole parts of the state.
TEST_F(MinimizeTest, LongRangesReplay) { ExpectReplays(Make(kChurn, 250, 450), kChurn, 250, 450); }

TEST_F(MinimizeTest, ARangeFromGenesisNeedsNoBase) {
  const std::string small = Make(kGenesis, 1, 5);
  EXPECT_FALSE(result_.manifest.base.has_value());
  EXPECT_EQ(result_.nodes, 0);
  ExpectReplays(small, kGenesis, 1, 5);
  ExpectReplays(Make(kGenesis, 4, 8), kGenesis, 4, 8);
}

TEST_F(MinimizeTest, CanBeDoneAgain) {
  const std::string small = Make(kTail, 45, 60);
  const std::string smaller = Make(small, 50, 55);
  ExpectReplays(smaller, kTail, 50, 55);
  EXPECT_GT(result_.omitted_keys, 0);
}

TEST_F(MinimizeTest, HasWhatNativeExecutionReads) {
  const std::string source = kFixtures + "/thor-2000";
  const std::string small = Make(source, 140, 160, ExecutionMode::kVerify);
  const int64_t nodes = result_.nodes;
  RunOptions options;
  options.recording = small;
  options.exec = ExecutionMode::kVerify;
  Outcome outcome = Replay(options);
  EXPECT_EQ(outcome.outcome, RunOutcome::kVerified) << outcome.message;
  EXPECT_EQ(outcome.app_hash, AppHashAt(source, 160));
  // Optimisations keep what they have read: without them it is read again.
  options.disable.assign(keeper::kOptimisationNames.begin(), keeper::kOptimisationNames.end());
  outcome = Replay(options);
  EXPECT_EQ(outcome.outcome, RunOutcome::kVerified) << outcome.message;

  options.disable.clear();
  options.recording = Make(source, 140, 160);
  EXPECT_LT(result_.nodes, nodes);
  outcome = Replay(options);
  EXPECT_EQ(outcome.outcome, RunOutcome::kError);
  EXPECT_THAT(outcome.message, HasSubstr("blockreplay minimize --exec verify"));
}

TEST_F(MinimizeTest, ReadingOutsideOfTheBaseNamesStoreAndKey) {
  const std::string small = Make(kChurn, 100, 101);
  // Keys that only later blocks write are not in the base of this one.
  std::set<std::string> written;
  std::vector<v1::Block> blocks = ReadBlocks(kChurn);
  const std::string edited = dir_.Path("edited");
  CopyRecording(small, edited, [&](v1::Block* block) {
    if (block->height() != 101) return;
    for (const auto& write : blocks[static_cast<size_t>(300 - 51)].change_set()) {
      if (write.store_key() == "bank") *block->add_change_set() = write;
    }
  });
  const Outcome outcome = Replay(edited);
  EXPECT_EQ(outcome.outcome, RunOutcome::kError);
  EXPECT_THAT(outcome.message,
              AllOf(HasSubstr("store bank: setting key 0x"), HasSubstr("node ("),
                    HasSubstr("left out of this partial state"),
                    HasSubstr("run the recording that this one was minimized from")));
}

TEST_F(MinimizeTest, FalsifiedBasesAreRefused) {
  const std::string small = Make(kTail, 45, 50);
  const std::vector<v1::PartialStateItem> items = ReadBase(small);
  const auto find = [&](const auto& wanted) {
    for (size_t i = items.size(); i-- > 0;) {
      if (wanted(items[i])) return i;
    }
    ADD_FAILURE();
    return size_t{0};
  };
  const size_t leaf =
      find([](const auto& item) { return item.has_node() && !item.node().value().empty(); });
  const size_t inner =
      find([](const auto& item) { return item.has_node() && item.node().height() > 1; });
  const size_t omitted = find([](const auto& item) { return item.has_omitted(); });
  const size_t store = find([](const auto& item) { return item.has_store(); });

  struct Falsification {
    const char* what;
    size_t item;
    std::function<void(v1::PartialStateItem*)> edit;
    const char* message;
  };
  const std::vector<Falsification> falsifications = {
      {"value", leaf, [](auto* item) { item->mutable_node()->mutable_value()->front() ^= 1; },
       "has the app hash"},
      {"key", leaf, [](auto* item) { item->mutable_node()->mutable_key()->back() ^= 1; }, ""},
      {"version of a leaf", leaf,
       [](auto* item) { item->mutable_node()->set_version(item->node().version() - 1); }, ""},
      {"height of a node", inner,
       [](auto* item) { item->mutable_node()->set_height(item->node().height() + 1); },
       "children of heights"},
      {"subtree's hash", omitted,
       [](auto* item) { item->mutable_omitted()->mutable_hash()->front() ^= 1; },
       "has the app hash"},
      {"length of a hash", omitted,
       [](auto* item) { item->mutable_omitted()->mutable_hash()->pop_back(); },
       "a hash of 31 bytes"},
      {"size", omitted,
       [](auto* item) { item->mutable_omitted()->set_size(item->omitted().size() + 1); }, ""},
      {"negative size", omitted, [](auto* item) { item->mutable_omitted()->set_size(-1); },
       "height and size disagree"},
      {"height", omitted, [](auto* item) { item->mutable_omitted()->set_height(100); }, ""},
      {"version", omitted, [](auto* item) { item->mutable_omitted()->set_version(45); },
       "version out of range"},
      {"name of a store", store, [](auto* item) { item->mutable_store()->set_name("x/y"); },
       "store name"},
      {"nothing", store, [](auto* item) { item->Clear(); }, "neither a store"},
  };
  for (const Falsification& falsification : falsifications) {
    SCOPED_TRACE(falsification.what);
    std::vector<v1::PartialStateItem> edited = items;
    falsification.edit(&edited[falsification.item]);
    WriteBase(small, edited);
    const Outcome outcome = Replay(small);
    EXPECT_EQ(outcome.outcome, RunOutcome::kError);
    EXPECT_THAT(outcome.message, AllOf(HasSubstr("partial"), HasSubstr(falsification.message)));
  }
  // Items that are missing, there twice, or without end.
  for (const size_t item : {leaf, inner, omitted, store}) {
    std::vector<v1::PartialStateItem> edited = items;
    edited.erase(edited.begin() + static_cast<ptrdiff_t>(item));
    WriteBase(small, edited);
    EXPECT_EQ(Replay(small).outcome, RunOutcome::kError);
    edited = items;
    edited.insert(edited.begin() + static_cast<ptrdiff_t>(item), items[item]);
    WriteBase(small, edited);
    EXPECT_EQ(Replay(small).outcome, RunOutcome::kError);
  }
  std::vector<v1::PartialStateItem> deep = {items[0]};
  for (int i = 0; i < 200; ++i) {
    deep.emplace_back().mutable_node()->set_key(absl::StrCat(1000 + i));
    deep.back().mutable_node()->set_version(1);
    deep.back().mutable_node()->set_nonce(static_cast<uint32_t>(i));
  }
  WriteBase(small, deep);
  EXPECT_THAT(Replay(small).message, HasSubstr("too many subtrees without a parent"));
  WriteBase(small, items);
  EXPECT_EQ(Replay(small).outcome, RunOutcome::kVerified);
}

TEST_F(MinimizeTest, ABlockThatDiffersEndsTheRange) {
  const std::string falsified = dir_.Path("falsified");
  CopyRecording(kTail, falsified, [](v1::Block* block) {
    if (block->height() == 50) block->mutable_app_hash()->front() ^= 1;
  });
  const std::string small = Make(falsified, 46, 60);
  EXPECT_EQ(result_.manifest.last_height, 50);
  EXPECT_THAT(result_.mismatch, HasSubstr("block 50: the app hash differs"));
  const Outcome outcome = Replay(small);
  EXPECT_EQ(outcome.outcome, RunOutcome::kAppHashMismatch) << outcome.message;
  EXPECT_EQ(outcome.blocks, 4);

  MinimizeOptions options;
  options.recording = falsified;
  options.output = dir_.Path("none");
  options.from = 55;
  options.to = 60;
  const absl::Status status = Minimize(options, NoProgress).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("give --from 50 or a lower height"));
  EXPECT_FALSE(std::filesystem::exists(options.output));
}

TEST_F(MinimizeTest, OtherTreesNeedGenesis) {
  const std::string gno = kFixtures + "/gno-sends-300";
  const std::string small = Make(gno, 1, 3, ExecutionMode::kNative);
  EXPECT_EQ(Replay(small).blocks, 3);
  MinimizeOptions options;
  options.recording = gno;
  options.output = dir_.Path("none");
  options.from = 2;
  options.to = 3;
  const absl::Status status = Minimize(options, NoProgress).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()), HasSubstr("give --from 1"));
}

TEST_F(MinimizeTest, ManifestAndBaseMustFit) {
  const std::string small = Make(kTail, 45, 46);
  const auto message_after = [&](const std::function<void(nlohmann::json*)>& edit) {
    const std::string before = ReadBytes(small + "/manifest.json");
    EditManifest(small, edit);
    const absl::StatusOr<Manifest> manifest = LoadManifest(small);
    WriteBytes(small + "/manifest.json", before);
    return std::string(manifest.status().message());
  };
  EXPECT_THAT(message_after([](nlohmann::json* document) { document->erase("partial_base"); }),
              HasSubstr("come together or not at all"));
  EXPECT_THAT(message_after([](nlohmann::json* document) { (*document)["partial_base"] = 1; }),
              HasSubstr("partial_base.exec"));
  EXPECT_THAT(
      message_after([](nlohmann::json* document) { (*document)["partial_base"]["exec"] = "all"; }),
      HasSubstr("partial_base.exec"));
  EXPECT_THAT(message_after([](nlohmann::json* document) {
                document->erase("base_height");
                document->erase("base_app_hash");
              }),
              HasSubstr("are missing"));
}

}  // namespace
}  // namespace blockreplay::replay
