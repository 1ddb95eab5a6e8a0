#include "storage/kv/leveldb_source.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <leveldb/db.h>
#include <leveldb/write_batch.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "storage/kv/rocksdb_engine.h"
#include "storage/kv/test_util.h"

namespace blockreplay::storage {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;
using ::testing::Not;

std::string FromHex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

nlohmann::json ReadJson(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.is_open()) << path;
  return nlohmann::json::parse(file);
}

Pairs ToPairs(const nlohmann::json& json) {
  Pairs pairs;
  for (const auto& pair : json) pairs.emplace_back(FromHex(pair[0]), FromHex(pair[1]));
  return pairs;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// Everything about the files of a directory that a reader could change, but for access times.
struct FileState {
  std::string bytes;
  int64_t modified_ns;
  int64_t changed_ns;  // of the inode: links, mode
  uint64_t inode;
  uint64_t links;
  bool operator==(const FileState&) const = default;
};
std::map<std::string, FileState> Fingerprint(const std::string& dir) {
  std::map<std::string, FileState> files;
  std::vector<std::string> names = {dir};
  for (const auto& entry : fs::directory_iterator(dir)) names.push_back(entry.path().string());
  for (const std::string& name : names) {
    struct stat info{};
    EXPECT_EQ(stat(name.c_str(), &info), 0);
    files[name] = {fs::is_regular_file(name) ? ReadFile(name) : "",
                   info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec,
                   info.st_ctim.tv_sec * 1'000'000'000 + info.st_ctim.tv_nsec, info.st_ino,
                   info.st_nlink};
  }
  return files;
}

class LeveldbSourceTest : public ::testing::Test {
 protected:
  // Unpacks a fixture and returns its database directory.
  std::string Unpack(const std::string& tar) {
    const std::string to = dir_.path() + "/source";
    fs::create_directory(to);
    const std::string command =
        "tar --zstd -xf '" BLOCKREPLAY_FIXTURES "/" + tar + "' -C '" + to + "'";
    EXPECT_EQ(std::system(command.c_str()), 0);
    return to + "/application.db";
  }
  LeveldbSourceOptions Options() {
    LeveldbSourceOptions options;
    options.temp_dir = dir_.path() + "/temp";
    fs::create_directory(options.temp_dir);
    return options;
  }
  void ExpectNothingLeft() { EXPECT_TRUE(fs::is_empty(dir_.path() + "/temp")); }

  // Reads all, in several ways, and compares.
  void ExpectReads(const LeveldbSource& source, const Pairs& expected) {
    ASSERT_EQ(Contents(source), expected);
    Pairs reversed(expected.rbegin(), expected.rend());
    EXPECT_EQ(Drain(*source.NewIterator(KeyRange::All(), Direction::kReverse)), reversed);
    for (const auto& [key, value] : expected) {
      std::string read;
      ASSERT_THAT(source.Get(key, &read), IsOkAnd(true));
      ASSERT_EQ(read, value);
      std::string untouched = "before";
      ASSERT_THAT(source.Get(key + std::string(1, '\0'), &untouched), IsOkAnd(false));
      ASSERT_EQ(untouched, "before");
    }
  }

  TempDir dir_;
};

struct Fixture {
  std::string tar;
  std::string json;
  // Where in it the pairs are.
  nlohmann::json::json_pointer pairs;
};

class LeveldbFixtureTest : public LeveldbSourceTest,
                           public ::testing::WithParamInterface<Fixture> {};

TEST_P(LeveldbFixtureTest, ReadsThePairsAndLeavesTheSourceAlone) {
  const std::string db = Unpack(GetParam().tar);
  const auto before = Fingerprint(db);
  const Pairs expected =
      ToPairs(ReadJson(std::string(BLOCKREPLAY_FIXTURES "/") + GetParam().json)[GetParam().pairs]);
  ASSERT_THAT(expected, Not(IsEmpty()));
  {
    const auto source = LeveldbSource::Open(db, Options());
    ASSERT_TRUE(source.ok()) << source.status();
    ExpectReads(**source, expected);
    EXPECT_EQ(Fingerprint(db), before);
  }
  EXPECT_EQ(Fingerprint(db), before);
  ExpectNothingLeft();
}

INSTANTIATE_TEST_SUITE_P(
    Iavl, LeveldbFixtureTest,
    ::testing::Values(Fixture{"iavl/leveldb/plain.tar.zst", "iavl/leveldb/plain.json",
                              nlohmann::json::json_pointer("/final_db")},
                      Fixture{"iavl/leveldb/pruned_fast_stale.tar.zst",
                              "iavl/leveldb/pruned_fast_stale.json",
                              nlohmann::json::json_pointer("/final_db")},
                      Fixture{"iavl/leveldb/legacy_fast.tar.zst", "iavl/leveldb/legacy.json",
                              nlohmann::json::json_pointer("/scenarios/0/db")},
                      Fixture{"iavl/leveldb/legacy_slow_empty_commits.tar.zst",
                              "iavl/leveldb/legacy.json",
                              nlohmann::json::json_pointer("/scenarios/1/db")},
                      Fixture{"iavl/leveldb/legacy_pruned.tar.zst", "iavl/leveldb/legacy.json",
                              nlohmann::json::json_pointer("/scenarios/2/db")}),
    [](const auto& param) {
      std::string name = fs::path(param.param.tar).filename().string();
      return name.substr(0, name.find('.'));
    });

// The census of node.json: classes of keys, such as "s/k:acc/f" (a store's fast nodes).
std::map<std::string, int> Census(const LeveldbSource& source) {
  std::map<std::string, int> census;
  for (const auto& [key, value] : Contents(source)) {
    if (key.starts_with("s/k:")) {
      ++census[key.substr(0, key.find('/', 4) + 2)];
    } else if (key == "s/latest") {
      ++census["\"s/latest\""];
    } else {
      ++census["\"s/#\""];
    }
  }
  return census;
}

class LeveldbNodeTest : public LeveldbSourceTest,
                        public ::testing::WithParamInterface<const char*> {};

TEST_P(LeveldbNodeTest, ReadsAnApplicationDatabaseOfJournalsOnly) {
  const std::string folder = std::string("node-db/") + GetParam();
  const std::string db = Unpack(folder + "/application.db.tar.zst");
  const auto before = Fingerprint(db);
  const auto node = ReadJson(std::string(BLOCKREPLAY_FIXTURES "/") + folder + "/node.json");
  {
    const auto source = LeveldbSource::Open(db, Options());
    ASSERT_TRUE(source.ok()) << source.status();
    EXPECT_EQ(Census(**source),
              (node["key_census"]["application"].get<std::map<std::string, int>>()));
    std::string latest;
    EXPECT_THAT((*source)->Get("s/latest", &latest), IsOkAnd(true));
    EXPECT_EQ(latest, "\x08\x08");  // Int64Value{8}
  }
  EXPECT_EQ(Fingerprint(db), before);
  ExpectNothingLeft();
}

INSTANTIATE_TEST_SUITE_P(All, LeveldbNodeTest, ::testing::Values("send-send", "send-send-killed"),
                         [](const auto& param) {
                           std::string name = param.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_F(LeveldbSourceTest, RangesInBothDirections) {
  const std::string db = Unpack("iavl/leveldb/plain.tar.zst");
  const auto source = LeveldbSource::Open(db, Options());
  ASSERT_TRUE(source.ok()) << source.status();
  const Pairs all = Contents(**source);
  // Bounds on, just above, and far beyond keys.
  std::vector<std::string> bounds = {"", "\xff\xff"};
  for (size_t i = 0; i < all.size(); i += 61) {
    bounds.push_back(all[i].first);
    bounds.push_back(all[i].first + std::string(1, '\0'));
  }
  for (const std::string& start : bounds) {
    for (const std::string& end : bounds) {
      const KeyRange range{start, end};
      Pairs expected;
      for (const auto& pair : all) {
        if (range.Contains(pair.first)) expected.push_back(pair);
      }
      ASSERT_EQ(Drain(*(*source)->NewIterator(range, Direction::kForward)), expected);
      std::reverse(expected.begin(), expected.end());
      ASSERT_EQ(Drain(*(*source)->NewIterator(range, Direction::kReverse)), expected);
    }
  }
}

// LevelDB writes recovered journals to a table with the next free number, which a killed node may
// already have used for a table that no manifest knows.
TEST_F(LeveldbSourceTest, OrphanTablesOfTheSourceAreNotOverwritten) {
  for (const bool in_use : {false, true}) {
    const std::string db = Unpack("iavl/leveldb/legacy_fast.tar.zst");
    for (int number = 1; number < 12; ++number) {
      char name[16];
      std::snprintf(name, sizeof(name), "/%06d.ldb", number);
      WriteFile(db + name, "orphan");
    }
    const auto before = Fingerprint(db);
    {
      LeveldbSourceOptions options = Options();
      options.allow_in_use = in_use;
      const auto source = LeveldbSource::Open(db, options);
      ASSERT_TRUE(source.ok()) << source.status();
      EXPECT_EQ(Contents(**source).size(), 123u);
    }
    auto after = Fingerprint(db);
    if (in_use) {  // hard links change the inode's time
      for (auto& [name, state] : after) state.changed_ns = before.at(name).changed_ns;
    }
    EXPECT_EQ(after, before);
    ExpectNothingLeft();
    fs::remove_all(db);
  }
}

// Three tables in level 0 and a journal that becomes the fourth: LevelDB would compact them as soon
// as it is opened.
TEST_F(LeveldbSourceTest, ReadingStartsNoCompaction) {
  const std::string db = dir_.path() + "/made";
  std::map<std::string, std::string> model;
  for (int round = 0; round < 4; ++round) {
    leveldb::Options options;
    options.create_if_missing = true;
    leveldb::DB* raw = nullptr;
    ASSERT_TRUE(leveldb::DB::Open(options, db, &raw).ok());
    const std::unique_ptr<leveldb::DB> made(raw);
    for (int i = 0; i < 1000; ++i) {
      const std::string key = "key" + std::to_string(i * 4 + round);
      const std::string value = std::to_string(i * 7919 % 1000) + std::string(100, 'v');
      ASSERT_TRUE(made->Put({}, key, value).ok());
      model[key] = value;
    }
  }
  const Pairs expected(model.begin(), model.end());
  const auto before = Fingerprint(db);
  uintmax_t table_size = 0;
  for (const auto& entry : fs::directory_iterator(db)) {
    if (entry.path().extension() == ".ldb") table_size = entry.file_size();
  }
  ASSERT_GT(table_size, 0u);
  for (const bool in_use : {false, true}) {
    LeveldbSourceOptions options = Options();
    options.allow_in_use = in_use;
    const auto source = LeveldbSource::Open(db, options);
    ASSERT_TRUE(source.ok()) << source.status();
    // Enough misses in the first table probed for a compaction that seeks trigger, too.
    for (int pass = 0; pass < 3; ++pass) ExpectReads(**source, expected);
    // A table from the journal and no larger one from all four. (Links to the source's are not
    // ours.)
    std::vector<uintmax_t> written;
    for (const auto& entry : fs::recursive_directory_iterator(options.temp_dir)) {
      if (entry.path().extension() == ".ldb" && entry.hard_link_count() == 1) {
        written.push_back(entry.file_size());
      }
    }
    ASSERT_EQ(written.size(), 1u);
    EXPECT_LT(written[0], 2 * table_size);
  }
  ExpectNothingLeft();
  auto after = Fingerprint(db);
  for (auto& [name, state] : after) state.changed_ns = before.at(name).changed_ns;
  EXPECT_EQ(after, before);
}

TEST_F(LeveldbSourceTest, RefusesADatabaseThatGoleveldbHolds) {
  const std::string db = Unpack("iavl/leveldb/plain.tar.zst");
  const int fd = open((db + "/LOCK").c_str(), O_RDWR);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(flock(fd, LOCK_EX | LOCK_NB), 0);  // as goleveldb does
  EXPECT_THAT(LeveldbSource::Open(db, Options()),
              FailsWith(absl::StatusCode::kFailedPrecondition, db + ": it is in use"));
  LeveldbSourceOptions live = Options();
  live.allow_in_use = true;
  {
    const auto source = LeveldbSource::Open(db, live);
    ASSERT_TRUE(source.ok()) << source.status();
    EXPECT_EQ(Contents(**source).size(), 430u);
  }
  close(fd);
  const auto source = LeveldbSource::Open(db, Options());
  ASSERT_TRUE(source.ok()) << source.status();
  // And the other way round: a node that starts now gets no lock.
  const int node = open((db + "/LOCK").c_str(), O_RDWR);
  EXPECT_NE(flock(node, LOCK_EX | LOCK_NB), 0);
  close(node);
}

TEST_F(LeveldbSourceTest, AllowInUseReadsAPrefixOfWhatIsBeingWritten) {
  const std::string db = dir_.path() + "/live";
  leveldb::Options writer_options;
  writer_options.create_if_missing = true;
  writer_options.write_buffer_size = 64 << 10;
  leveldb::DB* raw = nullptr;
  ASSERT_TRUE(leveldb::DB::Open(writer_options, db, &raw).ok());
  const std::unique_ptr<leveldb::DB> writer_db(raw);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (int i = 0; !stop; ++i) {
      char key[16];
      std::snprintf(key, sizeof(key), "%08d", i);
      EXPECT_TRUE(writer_db->Put({}, key, std::string(50, 'v')).ok());
      if (i % 16 == 0) usleep(100);
    }
  });
  LeveldbSourceOptions options = Options();
  options.allow_in_use = true;
  int opened = 0;
  size_t previous = 0;
  for (int attempt = 0; attempt < 200 && opened < 10; ++attempt) {
    const auto source = LeveldbSource::Open(db, options);
    if (!source.ok()) {
      ASSERT_THAT(source, FailsWith(absl::StatusCode::kAborted, "writes too fast"));
      continue;
    }
    ++opened;
    const Pairs pairs = Contents(**source);
    ASSERT_GE(pairs.size(), previous);
    previous = pairs.size();
    for (size_t i = 0; i < pairs.size(); ++i) ASSERT_EQ(std::stoul(pairs[i].first), i);
  }
  stop = true;
  writer.join();
  EXPECT_EQ(opened, 10);
  EXPECT_GT(previous, 0u);
  ExpectNothingLeft();
}

TEST_F(LeveldbSourceTest, RefusesADatabaseThatLevelDbHolds) {
  const std::string db = Unpack("iavl/leveldb/plain.tar.zst");
  int to_child[2];
  int from_child[2];
  ASSERT_EQ(pipe(to_child), 0);
  ASSERT_EQ(pipe(from_child), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    close(to_child[1]);
    const int fd = open((db + "/LOCK").c_str(), O_RDWR);
    struct flock lock{};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    char byte = fcntl(fd, F_SETLK, &lock) == 0 ? 'y' : 'n';  // as LevelDB does
    if (write(from_child[1], &byte, 1) != 1) _exit(1);
    if (read(to_child[0], &byte, 1) < 0) _exit(1);  // until the parent is done
    _exit(0);
  }
  close(to_child[0]);
  char byte = 0;
  ASSERT_EQ(read(from_child[0], &byte, 1), 1);
  ASSERT_EQ(byte, 'y');
  EXPECT_THAT(LeveldbSource::Open(db, Options()),
              FailsWith(absl::StatusCode::kFailedPrecondition,
                        "in use by process " + std::to_string(child)));
  close(to_child[1]);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(LeveldbSource::Open(db, Options()).ok());
}

TEST_F(LeveldbSourceTest, BadDirectoriesAreRefused) {
  const std::string missing = dir_.path() + "/missing";
  EXPECT_THAT(LeveldbSource::Open(missing, Options()),
              FailsWith(absl::StatusCode::kNotFound, missing));
  const std::string empty = dir_.path() + "/empty";
  fs::create_directory(empty);
  EXPECT_THAT(LeveldbSource::Open(empty, Options()),
              FailsWith(absl::StatusCode::kNotFound, "there is none"));
  EXPECT_TRUE(fs::is_empty(empty));
  const std::string rocks = dir_.path() + "/rocks";
  ASSERT_TRUE(RocksDbEngine::Open(rocks, {}).ok());
  EXPECT_THAT(LeveldbSource::Open(rocks, Options()),
              FailsWith(absl::StatusCode::kFailedPrecondition, "written by RocksDB"));
  ExpectNothingLeft();
}

TEST_F(LeveldbSourceTest, DamageIsReported) {
  const std::string db = Unpack("iavl/leveldb/pruned_fast_stale.tar.zst");
  const auto damage = [&](const std::string& name, size_t offset) {
    std::string bytes = ReadFile(db + name);
    bytes.at(offset) = static_cast<char>(bytes.at(offset) ^ 0x40);
    WriteFile(db + name, bytes);
  };
  const auto open_and_read = [&]() -> absl::Status {
    const auto source = LeveldbSource::Open(db, Options());
    if (!source.ok()) return source.status();
    const auto it = (*source)->NewIterator(KeyRange::All(), Direction::kForward);
    while (it->Valid()) it->Next();
    return it->status();
  };
  ASSERT_TRUE(open_and_read().ok());

  damage("/000007.ldb", 100);  // a data block
  EXPECT_THAT(open_and_read(), FailsWith(absl::StatusCode::kDataLoss, db));
  damage("/000007.ldb", 100);
  ASSERT_TRUE(open_and_read().ok());

  damage("/MANIFEST-000004", 20);
  EXPECT_THAT(open_and_read(), FailsWith(absl::StatusCode::kDataLoss, db));
  damage("/MANIFEST-000004", 20);

  fs::rename(db + "/000007.ldb", db + "/saved");
  EXPECT_THAT(open_and_read(), FailsWith(absl::StatusCode::kDataLoss, "missing"));
  fs::rename(db + "/saved", db + "/000007.ldb");

  for (const char* current : {"", "MANIFEST-", "MANIFEST-000004", "../../etc/passwd\n",
                              "MANIFEST-0000/../4\n", "MANIFEST-000099\n"}) {
    WriteFile(db + "/CURRENT", current);
    EXPECT_THAT(open_and_read(), FailsWith(absl::StatusCode::kDataLoss, "CURRENT")) << current;
  }
  ExpectNothingLeft();
}

TEST_F(LeveldbSourceTest, TornJournalEndsBeforeTheTornRecord) {
  const std::string db = Unpack("iavl/leveldb/legacy_fast.tar.zst");
  const std::string journal = ReadFile(db + "/000001.log");
  size_t previous = 0;
  for (size_t size = 0; size <= journal.size(); size += 997) {
    WriteFile(db + "/000001.log", journal.substr(0, size));
    const auto source = LeveldbSource::Open(db, Options());
    ASSERT_TRUE(source.ok()) << size << ": " << source.status();
    const size_t count = Contents(**source).size();
    ASSERT_GE(count + 10, previous) << size;  // orphans are deleted now and then
    previous = count;
  }
  std::string flipped = journal;
  flipped[5000] = static_cast<char>(flipped[5000] ^ 1);
  WriteFile(db + "/000001.log", flipped);
  EXPECT_THAT(LeveldbSource::Open(db, Options()), FailsWith(absl::StatusCode::kDataLoss, db));
}

}  // namespace
}  // namespace blockreplay::storage
