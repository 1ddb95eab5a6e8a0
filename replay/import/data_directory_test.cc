#include "replay/import/data_directory.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <leveldb/db.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "replay/import/recording_completion.h"
#include "replay/import/test_feed.h"
#include "replay/recording/check.h"
#include "replay/recording/test_recording.h"
#include "storage/kv/read_only.h"
#include "storage/kv/rocksdb_engine.h"
#include "storage/kv/write_batch.h"

namespace blockreplay::replay {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kDatabases[] = {"application", "blockstore", "state"};

std::string Message(const absl::Status& status) { return std::string(status.message()); }

// A node's home, unpacked from the fixtures.
class DataDirectoryTest : public ::testing::Test {
 protected:
  DataDirectoryTest() {
    fs::create_directory(dir_.Path("tmp"));
    ::setenv("TMPDIR", dir_.Path("tmp").c_str(), 1);
  }
  ~DataDirectoryTest() override { ::unsetenv("TMPDIR"); }

  void Unpack(const std::string& node) {
    fixture_ = std::string(BLOCKREPLAY_FIXTURES) + "/node-db/" + node;
    fs::create_directories(home() + "/data");
    fs::create_directories(home() + "/config");
    for (const char* database : kDatabases) {
      const std::string command =
          "tar --zstd -xf '" + fixture_ + "/" + database + ".db.tar.zst' -C '" + home() + "/data'";
      ASSERT_EQ(std::system(command.c_str()), 0);
    }
    const std::string command =
        "zstd -qdo '" + home() + "/config/genesis.json' '" + fixture_ + "/genesis.json.zst'";
    ASSERT_EQ(std::system(command.c_str()), 0);
  }

  std::string home() const { return dir_.Path("home"); }
  std::string recording() const { return fixture_ + "/recording"; }
  std::string out() const { return dir_.Path("out"); }

  absl::StatusOr<ImportSource> Open(ImportRange range = {}, bool in_use = false) {
    DataDirectoryOptions options;
    options.path = home();
    options.range = range;
    options.allow_in_use = in_use;
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

  // Changes a database as a node would.
  void Edit(const char* database, const std::string& key,
            const std::function<void(std::string*)>& edit) {
    leveldb::DB* opened = nullptr;
    ASSERT_TRUE(leveldb::DB::Open({}, home() + "/data/" + database + ".db", &opened).ok());
    const std::unique_ptr<leveldb::DB> db(opened);
    std::string value;
    ASSERT_TRUE(db->Get({}, key, &value).ok()) << key;
    edit(&value);
    ASSERT_TRUE((value.empty() ? db->Delete({}, key) : db->Put({}, key, value)).ok());
  }

  // Contents, times and links of everything in the home.
  std::map<std::string, std::string> Fingerprint() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(home())) {
      struct stat info{};
      EXPECT_EQ(::stat(entry.path().c_str(), &info), 0);
      files[entry.path().string()] =
          (entry.is_regular_file() ? ReadBytes(entry.path().string()) : "") + " " +
          std::to_string(info.st_mtim.tv_nsec) + " " + std::to_string(info.st_ctim.tv_sec) + " " +
          std::to_string(info.st_ctim.tv_nsec) + " " + std::to_string(info.st_nlink);
    }
    return files;
  }

  TemporaryDir dir_;
  std::string fixture_;
};

// What the recorder of the same run wrote, from `first` on, without deletes of absent keys, which
// leave no trace in a node.
std::vector<v1::Block> Expected(const std::string& recording, int64_t first) {
  std::vector<v1::Block> blocks;
  std::set<std::pair<std::string, std::string>> present;
  for (v1::Block block : ReadBlocks(recording)) {
    auto* writes = block.mutable_change_set();
    for (int i = 0; i < writes->size();) {
      const auto& write = writes->Get(i);
      const std::pair key(write.store_key(), write.key());
      if (!write.delete_()) {
        present.insert(key);
      } else if (present.erase(key) == 0) {
        writes->erase(writes->begin() + i);
        continue;
      }
      ++i;
    }
    if (block.height() >= first) blocks.push_back(std::move(block));
  }
  return blocks;
}

void ExpectSameBlocks(const std::vector<v1::Block>& actual,
                      const std::vector<v1::Block>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    v1::Block block = actual[i];
    EXPECT_TRUE(block.has_header());
    EXPECT_EQ(block.header().height(), block.height());
    block.clear_header();
    EXPECT_EQ(block.request().SerializeAsString(), expected[i].request().SerializeAsString());
    EXPECT_EQ(block.response().SerializeAsString(), expected[i].response().SerializeAsString());
    EXPECT_EQ(block.init_chain().SerializeAsString(), expected[i].init_chain().SerializeAsString());
    EXPECT_EQ(block.SerializeAsString(), expected[i].SerializeAsString())
        << "block " << block.height();
  }
}

class NodeDbTest : public DataDirectoryTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(NodeDbTest, GivesTheRecordingOfTheSameRun) {
  Unpack(GetParam());
  const auto before = Fingerprint();
  const auto result = Import();
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->outcome, CompletionOutcome::kComplete) << result->mismatch;
  ExpectSameBlocks(ReadBlocks(out()), Expected(recording(), 1));
  EXPECT_EQ(Fingerprint(), before);
  EXPECT_TRUE(fs::is_empty(dir_.Path("tmp")));

  // Of the killed node the block after the last one is there, too.
  const bool killed = std::string(GetParam()) == "send-send-killed";
  EXPECT_EQ(result->checks.app_hashes, 8);
  EXPECT_EQ(result->checks.header_app_hashes, killed ? 8 : 7);
  EXPECT_EQ(result->checks.results_hashes, killed ? 8 : 7);
  EXPECT_EQ(result->checks.header_hashes, 8);
  EXPECT_EQ(result->checks.data_hashes, 8);

  const Manifest manifest = *LoadManifest(out());
  const Manifest expected = *LoadManifest(recording());
  EXPECT_EQ(manifest.stores, expected.stores);
  EXPECT_EQ(manifest.final_app_hash, expected.final_app_hash);
  EXPECT_EQ(manifest.chain_id, expected.chain_id);
  EXPECT_EQ(manifest.application_name, "thornode");
  const nlohmann::json& origin = manifest.document["origin"];
  EXPECT_EQ(origin["source"], "data directory");
  EXPECT_EQ(origin["node_version"], "CometBFT 0.38.19");
  EXPECT_EQ(origin["verified"], true);
  EXPECT_EQ(origin["ranges"], nlohmann::json::parse(R"([{"first": 1, "last": 8}])"));
  EXPECT_TRUE(CheckRecording(out(), manifest, [](int64_t) {}).ok());
}

TEST_P(NodeDbTest, StartsInTheMiddleFromTheVersionBefore) {
  Unpack(GetParam());
  const auto result = Import({.from = 4, .to = 7});
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->outcome, CompletionOutcome::kComplete) << result->mismatch;
  std::vector<v1::Block> expected = Expected(recording(), 4);
  expected.pop_back();
  ExpectSameBlocks(ReadBlocks(out()), expected);
  EXPECT_EQ(result->checks.header_app_hashes, 4);  // block 8's header is there
  const Manifest manifest = *LoadManifest(out());
  ASSERT_TRUE(manifest.base.has_value());
  EXPECT_EQ(manifest.base->height, 3);
  EXPECT_EQ(manifest.base->app_hash, Expected(recording(), 3)[0].app_hash());
  EXPECT_TRUE(CheckRecording(out(), manifest, [](int64_t) {}).ok());
}

INSTANTIATE_TEST_SUITE_P(All, NodeDbTest, ::testing::Values("send-send", "send-send-killed"),
                         [](const auto& param) {
                           return std::string(param.param) == "send-send" ? "stopped" : "killed";
                         });

TEST_F(DataDirectoryTest, ReadsRocksDbWithoutWritingIntoIt) {
  Unpack("send-send-killed");
  for (const char* database : kDatabases) {
    const std::string path = home() + "/data/" + database + ".db";
    storage::WriteBatch batch;
    {
      const auto source = storage::OpenReadOnly(path);
      ASSERT_TRUE(source.ok()) << source.status();
      const auto it =
          (*source)->NewIterator(storage::KeyRange::All(), storage::Direction::kForward);
      for (; it->Valid(); it->Next()) batch.Put(it->key(), it->value());
    }
    fs::remove_all(path);
    const auto engine = storage::RocksDbEngine::Open(path, {});
    ASSERT_TRUE(engine.ok()) << engine.status();
    ASSERT_TRUE((*engine)->Write(batch, storage::Durability::kProcessCrash).ok());
  }
  const auto before = Fingerprint();
  const auto result = Import();
  ASSERT_TRUE(result.ok()) << result.status();
  ExpectSameBlocks(ReadBlocks(out()), Expected(recording(), 1));
  EXPECT_EQ(Fingerprint(), before);
  EXPECT_TRUE(fs::is_empty(dir_.Path("tmp")));
}

TEST_F(DataDirectoryTest, SaysWhichHeightsThereAre) {
  Unpack("send-send-killed");
  const absl::Status status = Open({.from = 2, .to = 9}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Message(status),
              AllOf(HasSubstr("blocks 1 to 9"), HasSubstr("state.db is at 8"),
                    HasSubstr("versions 1 to 8"), HasSubstr("1 to 8 can be imported")));
}

TEST_F(DataDirectoryTest, StartsAboveThePrunedVersions) {
  Unpack("send-send");
  // As pruning does: the roots of versions 1 to 3 go. One store's is enough.
  for (char version = 1; version <= 3; ++version) {
    Edit("application",
         "s/k:thorchain/s" + std::string(7, '\0') + version + std::string(3, '\0') + '\1',
         [](std::string* value) { value->clear(); });
  }
  const auto source = Open();
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ(source->feed->range(), (HeightRange{5, 8}));
  EXPECT_EQ(source->base->height(), 4);
  EXPECT_THAT(Message(Open({.from = 4, .to = 8}).status()), HasSubstr("versions 4 to 8"));
}

TEST_F(DataDirectoryTest, RefusesADirectoryInUse) {
  Unpack("send-send");
  const int lock = ::open((home() + "/data/application.db/LOCK").c_str(), O_RDWR);
  ASSERT_EQ(::flock(lock, LOCK_EX), 0);
  const absl::Status status = Open().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Message(status), HasSubstr("in use"));
  EXPECT_TRUE(Open({}, /*in_use=*/true).ok());
  ::close(lock);
}

TEST_F(DataDirectoryTest, RefusesPebble) {
  Unpack("send-send");
  const std::string path = home() + "/data/state.db";
  fs::remove_all(path);
  fs::create_directory(path);
  WriteBytes(path + "/CURRENT", "MANIFEST-000001\n");
  WriteBytes(path + "/OPTIONS-000003", "[Version]\n  pebble_version=0.1\n");
  const absl::Status status = Open().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(Message(status), AllOf(HasSubstr("PebbleDB"), HasSubstr("scripts/import/convert-pebble.sh")));
}

TEST_F(DataDirectoryTest, TakesTheGenesisFromTheStateStore) {
  Unpack("send-send");
  fs::remove_all(home() + "/config");
  const auto result = Import();
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->outcome, CompletionOutcome::kComplete) << result->mismatch;
  const v1::Block first = ReadBlocks(out())[0];
  // There the text is another one, with the same meaning.
  EXPECT_EQ(nlohmann::json::parse(first.init_chain().app_state_bytes()),
            nlohmann::json::parse(ReadBlocks(recording())[0].init_chain().app_state_bytes()));
}

TEST_F(DataDirectoryTest, NeedsAGenesisForTheFirstBlock) {
  Unpack("send-send");
  fs::remove_all(home() + "/config");
  Edit("state", "genesisDoc", [](std::string* value) { value->clear(); });
  const absl::Status status = Open().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(Message(status), HasSubstr("--genesis"));
  EXPECT_TRUE(Open({.from = 2, .to = {}}).ok());
}

TEST_F(DataDirectoryTest, KnowsADamagedBlock) {
  Unpack("send-send");
  Edit("blockstore", "P:5:0", [](std::string* value) { (*value)[value->size() / 2] ^= 1; });
  const absl::Status status = Import().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(Message(status), HasSubstr("block 5"));
  EXPECT_FALSE(fs::exists(out()));
}

TEST_F(DataDirectoryTest, KnowsAFalseResponse) {
  Unpack("send-send");
  v1::Block falsified;
  for (const v1::Block& block : ReadBlocks(recording())) {
    if (falsified.height() == 0 && block.response().tx_results_size() > 0) falsified = block;
  }
  ASSERT_GT(falsified.height(), 0);
  falsified.mutable_response()->mutable_tx_results(0)->set_gas_used(1);
  const std::string height = std::to_string(falsified.height());
  Edit("state", "abciResponsesKey:" + height,
       [&](std::string* value) { *value = falsified.response().SerializeAsString(); });
  const auto result = Import();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->outcome, CompletionOutcome::kResultsMismatch);
  EXPECT_THAT(result->mismatch, HasSubstr("block " + height));
  EXPECT_FALSE(fs::exists(out()));
}

// A value changed in place: its leaf's hash is no longer what its parent says.
TEST_F(DataDirectoryTest, KnowsAFalseLeaf) {
  Unpack("send-send");
  const v1::Block block = ReadBlocks(recording())[4];
  std::string key;
  std::string old;
  {
    const auto source = storage::OpenReadOnly(home() + "/data/application.db");
    const auto it = (*source)->NewIterator(
        storage::KeyRange::Prefix("s/k:bank/s" + std::string(7, '\0') + '\5'),
        storage::Direction::kForward);
    for (; it->Valid(); it->Next()) {
      if (it->value()[0] == '\0') key = it->key();  // height 0
    }
  }
  ASSERT_FALSE(key.empty());
  Edit("application", key, [](std::string* value) { value->back() ^= 1; });
  const auto result = Import();
  if (result.ok()) {
    EXPECT_EQ(result->outcome, CompletionOutcome::kAppHashMismatch);
    EXPECT_THAT(result->mismatch, AllOf(HasSubstr("block 5"), HasSubstr("bank")));
  } else {
    EXPECT_EQ(result.status().code(), absl::StatusCode::kDataLoss);
  }
  EXPECT_FALSE(fs::exists(out()));
}

// As a node with discard_abci_responses: only the last one is there.
TEST_F(DataDirectoryTest, ResponsesMayBeMissing) {
  Unpack("send-send");
  for (int height = 1; height <= 8; ++height) {
    Edit("state", "abciResponsesKey:" + std::to_string(height),
         [](std::string* value) { value->clear(); });
  }
  const auto result = Import();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->outcome, CompletionOutcome::kComplete);
  EXPECT_EQ(result->checks.results_hashes, 0);
  const std::vector<v1::Block> blocks = ReadBlocks(out());
  EXPECT_FALSE(blocks[6].has_response());
  EXPECT_EQ(blocks[7].response().SerializeAsString(),
            ReadBlocks(recording())[7].response().SerializeAsString());
}

}  // namespace
}  // namespace blockreplay::replay
