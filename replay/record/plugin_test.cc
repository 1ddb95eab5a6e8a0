// The plugin as a node meets it: the real program, started and called as the SDK does, and killed.

#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <random>
#include <sstream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "replay/record/part_file.h"
#include "replay/record/stream_index.h"
#include "replay/record/test_host.h"
#include "replay/recording/test_recording.h"

namespace blockreplay::replay {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

constexpr char kListener[] = "/cosmos.store.streaming.abci.ABCIListenerService/";

class PluginTest : public testing::Test {
 protected:
  static const std::vector<v1::Block>& Blocks() {
    static const auto* const blocks = new std::vector<v1::Block>([] {
      auto all = ReadBlocks(BLOCKREPLAY_FIXTURES "/regression/swaps-streaming-swaps");
      for (v1::Block& block : all) {  // what a node tells its listeners
        block.clear_init_chain();
        block.clear_commit_info();
        block.mutable_response()->set_app_hash(block.app_hash());
      }
      return all;
    }());
    return *blocks;
  }
  static const v1::Block& Block(int64_t height) {
    return Blocks()[static_cast<size_t>(height - 1)];
  }

  // `exec`, so that signals reach the program and not the shell.
  std::unique_ptr<TestHost> Start(const std::string& options = "",
                                  const std::string& before = "exec ") const {
    auto host = std::make_unique<TestHost>(
        absl::StrCat(before, BLOCKREPLAY_BINARY " record --out ", dir_, " ", options),
        Environment());
    EXPECT_THAT(host->Connect(), MatchesRegex("1\\|1\\|unix\\|/.*\\|grpc\\|"));
    return host;
  }
  std::map<std::string, std::string> Environment() const {
    auto environment = TestHost::Cookie();
    environment["TMPDIR"] = sockets_;
    return environment;
  }

  static void Send(TestHost* host, int64_t first, int64_t last) {
    for (int64_t height = first; height <= last; ++height) {
      const grpc::Status status = host->Send(Block(height));
      ASSERT_TRUE(status.ok()) << height << ": " << status.error_message();
    }
  }
  static void End(TestHost* host) {
    host->Shutdown();
    const int status = host->Wait();
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status << host->log();
  }

  std::vector<StreamRange> Ranges() const {
    const auto contents = ReadStream(dir_);
    EXPECT_TRUE(contents.ok()) << contents.status();
    return RangesOf(contents->index.parts);
  }
  // All blocks that are there are those that were sent.
  void ExpectIntact() const {
    const StreamParts parts = ReadStream(dir_)->index.parts;
    for (const auto& [first, part] : parts) {
      const auto reader = PartReader::Open(absl::StrCat(dir_, "/", part.name()));
      ASSERT_TRUE(reader.ok());
      v1::Block block;
      for (int64_t height = first; height <= part.last; ++height) {
        ASSERT_TRUE(*(*reader)->Next(&block));
        EXPECT_EQ(block.SerializeAsString(), Block(height).SerializeAsString()) << height;
      }
    }
  }

  TemporaryDir temporary_;
  const std::string dir_ = temporary_.Path("out");
  const std::string sockets_ = [&] {
    const std::string path = temporary_.Path("sockets");
    fs::create_directory(path);
    return path;
  }();
};

TEST_F(PluginTest, RecordsBlocks) {
  const auto host = Start("--chain-id thorchain --blocks-per-part 10");
  host->OpenStreams();
  Send(host.get(), 1, 15);
  End(host.get());
  EXPECT_THAT(Ranges(), ElementsAre(StreamRange{1, 15}));
  ExpectIntact();
  EXPECT_THAT(ReadBytes(dir_ + "/manifest.draft.json"), HasSubstr("thorchain"));
  EXPECT_TRUE(fs::is_empty(sockets_)) << "the socket is left";
}

TEST_F(PluginTest, AnswersHealthChecks) {
  const auto host = Start();
  std::string response;
  // HealthCheckRequest{service: "plugin"}, HealthCheckResponse{status: SERVING}
  EXPECT_TRUE(host->Call("/grpc.health.v1.Health/Check", "\x0a\x06plugin", &response).ok());
  EXPECT_EQ(response, "\x08\x01");
}

TEST_F(PluginTest, LogsAsHostsReadIt) {
  const auto host = Start();
  Send(host.get(), 1, 1);
  Send(host.get(), 4, 4);
  End(host.get());
  std::vector<std::string> levels;
  std::istringstream log(host->log());
  for (std::string line; std::getline(log, line);) {
    const auto entry = nlohmann::json::parse(line, nullptr, false);
    ASSERT_TRUE(entry.is_object()) << line;
    EXPECT_FALSE(entry["@message"].get<std::string>().empty());
    EXPECT_THAT(entry["@timestamp"].get<std::string>(),
                MatchesRegex("20..-..-..T..:..:..\\.......Z"));
    levels.push_back(entry["@level"]);
  }
  EXPECT_THAT(levels, ElementsAre("info", "warn", "info"));
}

TEST_F(PluginTest, RefusesToRunByHand) {
  TestHost host(BLOCKREPLAY_BINARY " record --out " + dir_, {});
  EXPECT_EQ(host.Connect(), "");
  const int status = host.Wait();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1);
  EXPECT_THAT(host.log(), HasSubstr("COSMOS_SDK_ABCI"));
  EXPECT_FALSE(fs::exists(dir_));
}

// Each acknowledged block is there after kill -9 at that moment, and nothing is there twice after a
// restart.
TEST_F(PluginTest, LosesNothingWhenKilled) {
  int64_t height = 1;
  for (const int64_t blocks : {1, 4, 2, 7}) {
    const auto host = Start("--blocks-per-part 5");
    Send(host.get(), height, height + blocks - 1);
    height += blocks;
    host->Kill(SIGKILL);
    host->Wait();
    EXPECT_THAT(Ranges(), ElementsAre(StreamRange{1, height - 1}));
    ExpectIntact();
  }
}

TEST_F(PluginTest, ABlockBetweenItsHalvesIsNotRecorded) {
  {
    const auto host = Start();
    Send(host.get(), 1, 2);
    EXPECT_TRUE(host->Finalize(Block(3)).ok());
    host->Kill(SIGKILL);
  }
  const auto host = Start();
  const grpc::Status status = host->Commit(Block(3));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(), HasSubstr("block 3 is not recorded"));
  EXPECT_THAT(Ranges(), ElementsAre(StreamRange{1, 2}));
  Send(host.get(), 3, 4);
  EXPECT_THAT(Ranges(), ElementsAre(StreamRange{1, 4}));
}

TEST_F(PluginTest, TakesBlocksAgainThatItHas) {
  const auto host = Start("--blocks-per-part 5");
  Send(host.get(), 1, 12);
  v1::Block logged_otherwise = Block(4);
  if (logged_otherwise.response().tx_results_size() > 0) {
    logged_otherwise.mutable_response()->mutable_tx_results(0)->set_log("another text");
  }
  Send(host.get(), 2, 3);
  EXPECT_TRUE(host->Send(logged_otherwise).ok());
  Send(host.get(), 5, 14);
  End(host.get());
  EXPECT_THAT(Ranges(), ElementsAre(StreamRange{1, 14}));
  ExpectIntact();
  EXPECT_FALSE(fs::exists(dir_ + "/set-aside"));
}

// After a rollback another history follows: that one counts, the other is kept aside.
TEST_F(PluginTest, SetsAnAbandonedHistoryAside) {
  const auto host = Start("--blocks-per-part 5");
  Send(host.get(), 1, 12);
  v1::Block other = Block(8);
  ASSERT_GT(other.change_set_size(), 0);
  other.mutable_change_set(0)->set_value("another value");
  EXPECT_TRUE(host->Send(other).ok());
  EXPECT_THAT(Ranges(), ElementsAre(StreamRange{1, 8}));
  Send(host.get(), 9, 10);
  End(host.get());
  EXPECT_THAT(Ranges(), ElementsAre(StreamRange{1, 10}));
  EXPECT_THAT(RangesOf(ReadStream(dir_ + "/set-aside/1")->index.parts),
              ElementsAre(StreamRange{8, 12}));
  EXPECT_THAT(host->log(), HasSubstr("block 8 differs"));
}

TEST_F(PluginTest, AGapBeginsAnotherRange) {
  const auto host = Start();
  Send(host.get(), 3, 5);
  Send(host.get(), 9, 10);
  End(host.get());
  EXPECT_THAT(Ranges(), ElementsAre(StreamRange{3, 5}, StreamRange{9, 10}));
  ExpectIntact();
  EXPECT_THAT(host->log(), HasSubstr("3 to 5, 9 to 10"));
}

TEST_F(PluginTest, BringsWritesIntoOrder) {
  const auto host = Start();
  v1::Block disordered = Block(5);
  auto* const writes = disordered.mutable_change_set();
  *writes->Add() = writes->Get(0);
  writes->Mutable(0)->set_value("overwritten later in the block");
  for (int i = 1; 2 * i < writes->size() - 1; ++i) writes->SwapElements(i, writes->size() - 1 - i);
  EXPECT_TRUE(host->Send(disordered).ok());
  ExpectIntact();
}

// No room: the node gets an error for each block that is lost, nothing of them stays, and recording
// goes on when there is room.
TEST_F(PluginTest, ReportsAFullDisk) {
  const auto host = Start("", "ulimit -f 20; exec ");  // a file of 10 KiB at most
  int64_t height = 1;
  while (host->Send(Block(height)).ok()) ++height;
  ASSERT_LT(height, 60);
  v1::Block large = Block(height + 1);
  std::mt19937 random(1);
  std::string* const value = large.mutable_change_set(0)->mutable_value();
  for (int i = 0; i < 20000; ++i) value->push_back(static_cast<char>(random()));
  const grpc::Status status = host->Send(large);
  EXPECT_THAT(status.error_message(),
              HasSubstr(absl::StrCat("block ", height + 1, " is not recorded")));
  EXPECT_TRUE(ReadStream(dir_)->damages.empty());
  host->Kill(SIGKILL);
  host->Wait();
  EXPECT_THAT(Ranges(), ElementsAre(StreamRange{1, height - 1}));

  const auto next = Start();
  Send(next.get(), height + 2, height + 3);
  EXPECT_THAT(Ranges(),
              ElementsAre(StreamRange{1, height - 1}, StreamRange{height + 2, height + 3}));
  ExpectIntact();
}

TEST_F(PluginTest, ServesThoughTheFolderCannotBeWritten) {
  WriteBytes(dir_, "a file");
  const auto host = Start();
  EXPECT_FALSE(host->Send(Block(1)).ok());
  fs::remove(dir_);
  Send(host.get(), 2, 3);
  End(host.get());
  EXPECT_THAT(Ranges(), ElementsAre(StreamRange{2, 3}));
}

TEST_F(PluginTest, IgnoresErrorsWhenAskedTo) {
  WriteBytes(dir_, "a file");
  const auto host = Start("--ignore-errors");
  EXPECT_TRUE(host->Send(Block(1)).ok());
  EXPECT_THAT(host->log(), HasSubstr("block 1 is not recorded"));
}

TEST_F(PluginTest, SurvivesWhatIsNoMessage) {
  const auto host = Start();
  for (const std::string method : {"ListenFinalizeBlock", "ListenCommit"}) {
    for (const std::string& bytes : {std::string("\xff\xff\xff\xff", 4), std::string(),
                                     std::string("\x0a\x7f", 2), Block(1).SerializeAsString()}) {
      EXPECT_FALSE(host->Call(kListener + method, bytes).ok()) << method;
    }
  }
  EXPECT_EQ(host->Call(std::string(kListener) + "Unknown", "").error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
  v1::Block wrong = Block(1);
  wrong.mutable_response()->set_app_hash("short");
  EXPECT_THAT(host->Send(wrong).error_message(), HasSubstr("app hash of 5 bytes"));
  wrong = Block(1);
  wrong.mutable_request()->add_txs("without a result");
  EXPECT_FALSE(host->Send(wrong).ok());
  wrong = Block(1);
  wrong.mutable_request()->set_height(2);
  EXPECT_FALSE(host->Send(wrong).ok()) << "the halves have different heights";
  Send(host.get(), 1, 2);
  ExpectIntact();
}

TEST_F(PluginTest, RefusesMessagesThatNoRecordingCanHold) {
  const auto host = Start();
  const grpc::Status status = host->Call(std::string(kListener) + "ListenCommit",
                                         std::string((size_t{512} << 20) + 1, '\0'));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << status.error_message();
  Send(host.get(), 1, 1);
}

TEST_F(PluginTest, TakesLargeBlocks) {
  const auto host = Start();
  v1::Block large = Block(1);
  *large.mutable_change_set()->Add() = large.change_set(0);
  auto& write = *large.mutable_change_set(0);
  write.set_store_key("0");  // before all others
  write.set_value(std::string(size_t{64} << 20, 'x'));
  EXPECT_TRUE(host->Send(large).ok());
  EXPECT_THAT(Ranges(), ElementsAre(StreamRange{1, 1}));
}

// The service manager signals the node and its plugin at once; the node's last block is still to
// come.
TEST_F(PluginTest, OutlivesTheSignalsOfAGroup) {
  const auto host = Start();
  Send(host.get(), 1, 1);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) host->Kill(signal);
  Send(host.get(), 2, 2);
  End(host.get());
  EXPECT_THAT(Ranges(), ElementsAre(StreamRange{1, 2}));
}

TEST_F(PluginTest, EndsWithItsNode) {
  const auto host = Start("", "");  // below a shell, as most nodes will start it
  host->OpenStreams();
  Send(host.get(), 1, 2);
  host->Vanish();
  const int status = host->Wait();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_THAT(host->log(), HasSubstr("the node is gone"));
  EXPECT_THAT(ReadBytes(dir_ + "/manifest.draft.json"), HasSubstr("\"last_height\": 2"));
}

// A node that is started again at once finds the folder in use for a moment.
TEST_F(PluginTest, WaitsForItsPredecessor) {
  const auto first = Start();
  Send(first.get(), 1, 2);
  TestHost second(BLOCKREPLAY_BINARY " record --out " + dir_, Environment());
  first->Vanish();
  EXPECT_THAT(second.Connect(), HasSubstr("|grpc|"));
  Send(&second, 3, 4);
  End(&second);
  EXPECT_THAT(Ranges(), ElementsAre(StreamRange{1, 4}));
}

}  // namespace
}  // namespace blockreplay::replay
