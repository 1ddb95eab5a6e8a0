#include "replay/import/gno_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <leveldb/db.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "nlohmann/json.hpp"
#include "replay/import/genesis.h"
#include "replay/import/recording_completion.h"
#include "replay/minimize/minimize.h"
#include "replay/recording/check.h"
#include "replay/recording/test_recording.h"

namespace blockreplay::replay {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::HasSubstr;

class NoObserver final : public CompletionObserver {
 public:
  void OnBase(const char*, const storage::SnapshotProgress&) override {}
  void OnBlock(int64_t) override {}
};

std::string Message(const absl::Status& status) { return std::string(status.message()); }

// The home of a real node, unpacked: fixtures/import/gno-node.
class GnoDirectoryTest : public ::testing::Test {
 protected:
  GnoDirectoryTest() {
    fs::create_directory(dir_.Path("tmp"));
    ::setenv("TMPDIR", dir_.Path("tmp").c_str(), 1);
    fs::create_directories(home() + "/db");
    for (const char* database : {"gnolang", "blockstore", "state"}) {
      const std::string command =
          "tar --zstd -xf '" + fixture_ + "/" + database + ".db.tar.zst' -C '" + home() + "/db'";
      EXPECT_EQ(std::system(command.c_str()), 0);
    }
    fs::copy(fixture_ + "/genesis.json", home() + "/genesis.json");
    node_ = nlohmann::json::parse(ReadBytes(fixture_ + "/node.json"));
  }
  ~GnoDirectoryTest() override { ::unsetenv("TMPDIR"); }

  // As the node's log has it, hex.
  std::string AppHash(int64_t height) const {
    return node_["app_hashes"][std::to_string(height)].get<std::string>();
  }
  std::string home() const { return dir_.Path("home"); }
  std::string out() const { return dir_.Path("out"); }

  absl::StatusOr<ImportSource> Open(ImportRange range = {}) {
    DataDirectoryOptions options;
    options.path = home();
    options.range = range;
    return OpenDataDirectory(options);
  }
  absl::StatusOr<CompletionResult> Import(ImportRange range = {}) {
    absl::StatusOr<ImportSource> source = Open(range);
    if (!source.ok()) return source.status();
    CompletionOptions options;
    options.out = out();
    options.threads = 1;
    options.cache_mb = 32;
    NoObserver observer;
    return CompleteRecording(source->feed.get(), source->base.get(), options, &observer);
  }

  // Changes a record of a database; an empty value deletes it.
  void Edit(const char* database, const std::string& key,
            const std::function<void(std::string*)>& edit) {
    leveldb::DB* opened = nullptr;
    ASSERT_TRUE(leveldb::DB::Open({}, home() + "/db/" + database + ".db", &opened).ok());
    const std::unique_ptr<leveldb::DB> db(opened);
    std::string value;
    ASSERT_TRUE(db->Get({}, key, &value).ok()) << key;
    edit(&value);
    ASSERT_TRUE((value.empty() ? db->Delete({}, key) : db->Put({}, key, value)).ok());
  }
  void Remove(const char* database, const std::string& key) {
    Edit(database, key, [](std::string* value) { value->clear(); });
  }
  static std::string RootKey(int64_t version) {
    std::string key = "s/_/R";
    for (int shift = 56; shift >= 0; shift -= 8) {
      key.push_back(static_cast<char>(version >> shift & 0xff));
    }
    return key;
  }

  // Contents and times of everything in the home.
  std::map<std::string, std::string> Fingerprint() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(home())) {
      struct stat info{};
      EXPECT_EQ(::stat(entry.path().c_str(), &info), 0);
      files[entry.path().string()] =
          (entry.is_regular_file() ? ReadBytes(entry.path().string()) : "") + " " +
          std::to_string(info.st_mtim.tv_nsec) + " " + std::to_string(info.st_ctim.tv_sec) + " " +
          std::to_string(info.st_ctim.tv_nsec);
    }
    return files;
  }

  const std::string fixture_ = std::string(BLOCKREPLAY_FIXTURES) + "/import/gno-node";
  nlohmann::json node_;
  TemporaryDir dir_;
};

TEST_F(GnoDirectoryTest, EveryBlockHasTheAppHashOfTheNode) {
  const auto before = Fingerprint();
  const auto result = Import();
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->outcome, CompletionOutcome::kComplete) << result->mismatch;
  EXPECT_EQ(Fingerprint(), before);
  EXPECT_TRUE(fs::is_empty(dir_.Path("tmp")));
  EXPECT_EQ(result->checks.app_hashes, 22);

  const std::vector<v1::Block> blocks = ReadBlocks(out());
  ASSERT_EQ(blocks.size(), 22u);
  for (const v1::Block& block : blocks) {
    const std::string height = std::to_string(block.height());
    EXPECT_EQ(absl::BytesToHexString(block.app_hash()), AppHash(block.height())) << height;
    EXPECT_EQ(block.response().app_hash(), block.app_hash()) << height;
    EXPECT_EQ(block.request().txs_size(), node_["txs"][height].get<int>()) << height;
    EXPECT_EQ(block.response().tx_results_size(), block.request().txs_size()) << height;
    EXPECT_EQ(block.request().decided_last_commit().votes_size(), block.height() == 1 ? 0 : 1);
  }
  EXPECT_EQ(blocks[0].change_set(0).key(), "consensus_params");
  EXPECT_EQ(blocks[0].init_chain().chain_id(), "blockreplay-test");
  // An empty block writes the gas price only where that changes.
  EXPECT_EQ(blocks[21].change_set_size(), 0);
  // What gnokey was told of each.
  const auto result_of = [&](int64_t height) {
    return blocks[static_cast<size_t>(height - 1)].response().tx_results(0);
  };
  EXPECT_EQ(result_of(4).code(), 0u);
  EXPECT_EQ(result_of(5).codespace(), "/std.InsufficientCoinsError");
  EXPECT_EQ(result_of(6).code(), 0u);
  EXPECT_EQ(result_of(8).code(), 1u);
  EXPECT_THAT(result_of(8).log(), HasSubstr("only up"));
  EXPECT_EQ(result_of(11).codespace(), "/std.OutOfGasError");
  EXPECT_GT(result_of(11).gas_used(), result_of(11).gas_wanted());

  const Manifest manifest = *LoadManifest(out());
  EXPECT_EQ(manifest.stores, (std::vector<std::string>{"base", "main"}));
  EXPECT_EQ(manifest.application_name, "gnoland");
  const nlohmann::json& origin = manifest.document["origin"];
  EXPECT_EQ(origin["verified"], true);
  EXPECT_EQ(origin["checks"]["header_app_hashes"], 21);
  EXPECT_EQ(origin["checks"]["results_hashes"], 21);
  EXPECT_EQ(origin["checks"]["header_hashes"], 22);
  EXPECT_EQ(origin["checks"]["data_hashes"], 19);
  EXPECT_THAT(origin["base_store"].get<std::string>(), HasSubstr("no versions"));
  EXPECT_TRUE(CheckRecording(out(), manifest, [](int64_t) {}).ok());
}

TEST_F(GnoDirectoryTest, StartsInTheMiddleFromTheTreeBefore) {
  const auto result = Import({.from = 6, .to = 12});
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->outcome, CompletionOutcome::kComplete) << result->mismatch;
  const Manifest manifest = *LoadManifest(out());
  ASSERT_TRUE(manifest.base.has_value());
  EXPECT_EQ(manifest.base->height, 5);
  EXPECT_EQ(absl::BytesToHexString(manifest.base->app_hash), AppHash(5));
  EXPECT_EQ(manifest.partial_base->exec, "native");
  EXPECT_EQ(absl::BytesToHexString(manifest.final_app_hash), AppHash(12));
  EXPECT_TRUE(CheckRecording(out(), manifest, [](int64_t) {}).ok());
  EXPECT_TRUE(CheckPartialBase(out(), manifest).ok());
}

TEST_F(GnoDirectoryTest, EveryHeightIsABase) {
  for (int64_t first = 2; first <= 22; ++first) {
    fs::remove_all(out());
    const auto result = Import({.from = first, .to = first});
    ASSERT_TRUE(result.ok()) << result.status();
    ASSERT_EQ(result->outcome, CompletionOutcome::kComplete) << first << result->mismatch;
  }
}

TEST_F(GnoDirectoryTest, SaysWhichVersionsAreLeft) {
  // Pruning removes the roots, oldest first.
  for (int64_t version = 1; version <= 4; ++version) Remove("gnolang", RootKey(version));
  const absl::Status status = Open({.from = 1, .to = {}}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Message(status), AllOf(HasSubstr("--from 1"), HasSubstr("blocks 1 to 22"),
                                     HasSubstr("versions 5 to 22; 6 to 22 can be imported")));
  const auto result = Import();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->manifest.first_height, 6);
}

TEST_F(GnoDirectoryTest, ImportsFromANodeThatWasKilled) {
  // The block store is a block ahead of the application and of the state, whose last save is that
  // of the block before.
  Remove("gnolang", RootKey(22));
  Edit("gnolang", "s/latest", [](std::string* value) {
    ASSERT_EQ(value->back(), 44);  // zigzag
    value->back() = 42;
  });
  const auto result = Import();
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->outcome, CompletionOutcome::kComplete);
  EXPECT_EQ(result->manifest.last_height, 21);
  // The header of block 22 proves block 21.
  EXPECT_EQ(result->checks.header_app_hashes, 21);
}

TEST_F(GnoDirectoryTest, NeedsTheGenesisOfTheChain) {
  Edit("gnolang", "s/latest", [](std::string*) {});  // LevelDB's own files
  fs::remove(home() + "/genesis.json");
  EXPECT_THAT(Message(Open().status()), HasSubstr("--genesis FILE"));
  EXPECT_TRUE(Open({.from = 2, .to = {}}).ok());
  std::string text = ReadBytes(fixture_ + "/genesis.json");
  text.replace(text.find("blockreplay-test"), 16, "another-chain-id");
  WriteBytes(home() + "/genesis.json", text);
  EXPECT_THAT(Message(Open().status()),
              AllOf(HasSubstr("of chain another-chain-id"), HasSubstr("of blockreplay-test")));
}

TEST_F(GnoDirectoryTest, NamesWhatIsMissing) {
  for (const char* database : {"blockstore", "state"}) {
    const std::string path = home() + "/db/" + database + ".db";
    fs::rename(path, path + ".away");
    EXPECT_THAT(Message(Open().status()), HasSubstr(path));
    fs::rename(path + ".away", path);
  }
}

TEST_F(GnoDirectoryTest, NamesTheConverterForPebble) {
  const std::string path = home() + "/db/gnolang.db";
  fs::remove_all(path);
  fs::create_directory(path);
  WriteBytes(path + "/CURRENT", "MANIFEST-000001\n");
  WriteBytes(path + "/OPTIONS-000003", "[Version]\n  pebble_version=0.1\n");
  const absl::Status status = Open().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(Message(status),
              AllOf(HasSubstr("gnolang.db"), HasSubstr("scripts/import/convert-pebble.sh")));
}

TEST_F(GnoDirectoryTest, FindsFoldersThatDoNotBelongTogether) {
  Edit("state", "stateKey", [](std::string* value) {
    const size_t at = value->find("blockreplay-test");
    ASSERT_NE(at, std::string::npos);
    value->replace(at, 16, "another-chain-id");
  });
  fs::remove(home() + "/genesis.json");
  const auto result = Import({.from = 3, .to = {}});
  EXPECT_THAT(Message(result.status()),
              AllOf(HasSubstr("another-chain-id"), HasSubstr("two nodes")));
  EXPECT_FALSE(fs::exists(out()));
}

TEST_F(GnoDirectoryTest, FindsDamage) {
  struct Case {
    const char* database;
    std::string key;
    std::function<void(std::string*)> edit;
    const char* says;
  };
  const auto flip_last = [](std::string* value) {
    value->back() = static_cast<char>(value->back() ^ 1);
  };
  const auto cut = [](std::string* value) { value->resize(value->size() / 2); };
  const auto clear = [](std::string* value) { value->clear(); };
  const std::vector<Case> cases = {
      {"blockstore", "H:7", flip_last, "block 7"},
      {"blockstore", "H:7", cut, "block 7: not a"},
      // Within the hash that the block is filed under.
      {"blockstore", "H:7",
       [](std::string* value) { (*value)[8] = static_cast<char>((*value)[8] ^ 1); },
       "is filed under"},
      {"blockstore", "H:7", clear, "block 7: is not there"},
      {"blockstore", "P:7:0", cut, "block 7: part 0"},
      {"blockstore", "P:7:0", clear, "block 7: part 0: is missing"},
      {"blockstore", "blockStore", cut, "blockStore is not"},
      {"blockstore", "blockStore", clear, "no key blockStore"},
      {"state", "abciResponsesKey:7", cut, "abciResponsesKey:7: not"},
      {"state", "stateKey", cut, "stateKey is not"},
      {"state", "stateKey", clear, "no stateKey"},
      {"state", "validatorsKey:1", clear, "validatorsKey:1"},
      {"gnolang", RootKey(7), flip_last, "checksum"},
      {"gnolang", "s/7", clear, "7"},
      {"gnolang", "s/7", cut, "gnolang.db"},
  };
  for (const Case& damage : cases) {
    std::string kept;
    Edit(damage.database, damage.key, [&](std::string* value) {
      kept = *value;
      damage.edit(value);
    });
    fs::remove_all(out());
    const auto result = Import();
    EXPECT_FALSE(result.ok()) << damage.key;
    EXPECT_THAT(Message(result.status()), HasSubstr(damage.says)) << damage.key;
    EXPECT_FALSE(fs::exists(out())) << damage.key;
    leveldb::DB* opened = nullptr;
    ASSERT_TRUE(leveldb::DB::Open({}, home() + "/db/" + damage.database + ".db", &opened).ok());
    const std::unique_ptr<leveldb::DB> db(opened);
    ASSERT_TRUE(db->Put({}, damage.key, kept).ok());
  }
  EXPECT_TRUE(Import().ok());
}

// Results that a node did not have are found by the next header.
TEST_F(GnoDirectoryTest, ProvesResults) {
  Edit("state", "abciResponsesKey:5", [](std::string* value) {
    const size_t at = value->find("InsufficientCoinsError");
    ASSERT_NE(at, std::string::npos);
    value->replace(at, 22, "InsufficientFundsError");
  });
  EXPECT_THAT(Message(Import().status()),
              AllOf(HasSubstr("results of block 5"), HasSubstr("header of block 6")));
}

TEST_F(GnoDirectoryTest, FindsAnAppHashThatTheChainDoesNotHave) {
  // Another block's commit info is that of another tree.
  std::string other;
  Edit("gnolang", "s/8", [&](std::string* value) { other = *value; });
  Edit("gnolang", "s/9", [&](std::string* value) { *value = other; });
  EXPECT_THAT(Message(Import().status()), HasSubstr("version"));
}

TEST(Tm2Genesis, HasTheParametersAndKeysOfAminoJson) {
  const std::string path = std::string(BLOCKREPLAY_FIXTURES) + "/import/gno-node/genesis.json";
  const absl::StatusOr<Genesis> genesis = LoadTm2Genesis(path);
  ASSERT_TRUE(genesis.ok()) << genesis.status();
  const auto& request = genesis->init_chain;
  EXPECT_EQ(request.consensus_params().block().max_bytes(), 2'000'000);
  EXPECT_EQ(request.consensus_params().block().max_gas(), 3'000'000'000);
  EXPECT_THAT(request.consensus_params().validator().pub_key_types(),
              ::testing::ElementsAre("/tm.PubKeyEd25519"));
  ASSERT_EQ(request.validators_size(), 1);
  EXPECT_EQ(request.validators(0).power(), 10);
  EXPECT_EQ(request.validators(0).pub_key().ed25519().size(), 32u);
  EXPECT_THAT(request.app_state_bytes(), HasSubstr("\"balances\""));
  std::string text = ReadBytes(path);
  text.replace(text.find("/tm.PubKeyEd25519"), 17, "/tm.PubKeyUnknown");
  EXPECT_THAT(Message(ParseTm2Genesis(text, "g.json").status()),
              AllOf(HasSubstr("g.json"), HasSubstr("/tm.PubKeyUnknown")));
}

}  // namespace
}  // namespace blockreplay::replay
