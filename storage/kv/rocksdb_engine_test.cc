#include "storage/kv/rocksdb_engine.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "storage/kv/rocksdb_engine_child.h"
#include "storage/kv/rocksdb_settings.h"
#include "storage/kv/test_util.h"

namespace blockreplay::storage {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Pair;

class RocksDbEngineTest : public ::testing::Test {
 protected:
  std::unique_ptr<RocksDbEngine> Open(const RocksDbOptions& options = {}) {
    auto engine = RocksDbEngine::Open(path_, options);
    EXPECT_TRUE(engine.ok()) << engine.status();
    return engine.ok() ? std::move(*engine) : nullptr;
  }

  TempDir dir_;
  const std::string path_ = dir_.path() + "/some/application.db";
};

// Values that do not compress.
std::string RandomBytes(std::mt19937_64& random, size_t size) {
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

// rocksdb_engine_child.cc as a process, in one of its roles. (RocksDB does not survive a fork
// without exec: its threads are gone.)
class ChildProcess {
 public:
  ChildProcess(const std::string& role, const std::string& path, uint64_t number = 0) {
    int to_child[2];
    int from_child[2];
    if (pipe2(to_child, O_CLOEXEC) != 0 || pipe2(from_child, O_CLOEXEC) != 0) std::abort();
    const std::string number_text = std::to_string(number);
    pid_ = fork();
    if (pid_ < 0) std::abort();
    if (pid_ == 0) {
      dup2(to_child[0], STDIN_FILENO);
      dup2(from_child[1], STDOUT_FILENO);
      execl(ROCKSDB_ENGINE_CHILD, ROCKSDB_ENGINE_CHILD, role.c_str(), path.c_str(),
            number_text.c_str(), nullptr);
      _exit(127);
    }
    close(to_child[0]);
    close(from_child[1]);
    to_child_ = to_child[1];
    from_child_ = from_child[0];
  }
  ~ChildProcess() {
    Kill();
    close(from_child_);
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // The next number that the child sends, if it still does.
  std::optional<uint64_t> Receive() const {
    uint64_t number = 0;
    if (read(from_child_, &number, sizeof(number)) != sizeof(number)) return std::nullopt;
    return number;
  }
  // Closes the pipe that the child waits at and returns its exit status.
  int Finish() {
    CloseInput();
    int status = -1;
    if (pid_ > 0) waitpid(pid_, &status, 0);
    pid_ = -1;
    return status;
  }
  void Kill() {
    if (pid_ > 0) kill(pid_, SIGKILL);
    Finish();
  }

 private:
  void CloseInput() {
    if (to_child_ >= 0) close(to_child_);
    to_child_ = -1;
  }

  pid_t pid_ = -1;
  int to_child_ = -1;
  int from_child_ = -1;
};

TEST_F(RocksDbEngineTest, ContentsSurviveClosing) {
  for (const Durability durability : {Durability::kProcessCrash, Durability::kPowerLoss}) {
    auto engine = Open();
    WriteBatch batch;
    batch.Put("k" + std::to_string(static_cast<int>(durability)), "v");
    ASSERT_TRUE(engine->Write(batch, durability).ok());
  }
  EXPECT_THAT(Contents(*Open()), ElementsAre(Pair("k0", "v"), Pair("k1", "v")));
}

// Go nodes open the directory with the default column family only.
TEST_F(RocksDbEngineTest, OnlyTheDefaultColumnFamilyAndOnlyTheKeysWritten) {
  ASSERT_TRUE(Open()->Set("k", "v").ok());
  std::vector<std::string> families;
  ASSERT_TRUE(rocksdb::DB::ListColumnFamilies({}, path_, &families).ok());
  EXPECT_THAT(families, ElementsAre("default"));
  // As with RocksDB's own default options.
  rocksdb::DB* raw = nullptr;
  ASSERT_TRUE(rocksdb::DB::Open({}, path_, &raw).ok());
  const std::unique_ptr<rocksdb::DB> db(raw);
  const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator({}));
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key().ToString(), "k");
  it->Next();
  EXPECT_FALSE(it->Valid());
}

TEST_F(RocksDbEngineTest, OpensWhatDefaultOptionsWrote) {
  fs::create_directories(path_);
  {
    rocksdb::Options options;
    options.create_if_missing = true;
    rocksdb::DB* raw = nullptr;
    ASSERT_TRUE(rocksdb::DB::Open(options, path_, &raw).ok());
    const std::unique_ptr<rocksdb::DB> db(raw);
    for (uint64_t i = 0; i < 1000; ++i) ASSERT_TRUE(db->Put({}, Key(i), "v").ok());
    ASSERT_TRUE(db->Flush({}).ok());
    ASSERT_TRUE(db->CompactRange({}, nullptr, nullptr).ok());
  }
  EXPECT_EQ(Contents(*Open()).size(), 1000u);
}

TEST_F(RocksDbEngineTest, ExistenceRules) {
  RocksDbOptions must_exist;
  must_exist.create_if_missing = false;
  EXPECT_THAT(RocksDbEngine::Open(path_, must_exist),
              FailsWith(absl::StatusCode::kNotFound, path_));
  RocksDbOptions read_only;
  read_only.read_only = true;
  EXPECT_THAT(RocksDbEngine::Open(path_, read_only), FailsWith(absl::StatusCode::kNotFound, path_));
  EXPECT_FALSE(fs::exists(path_));

  ASSERT_TRUE(Open()->Set("k", "v").ok());
  RocksDbOptions must_not_exist;
  must_not_exist.error_if_exists = true;
  EXPECT_THAT(RocksDbEngine::Open(path_, must_not_exist),
              FailsWith(absl::StatusCode::kAlreadyExists, path_));
  EXPECT_THAT(Contents(*Open(must_exist)), ElementsAre(Pair("k", "v")));
}

TEST_F(RocksDbEngineTest, ReadOnlyReadsBesideAWriterAndDoesNotWrite) {
  const auto writer = Open();
  ASSERT_TRUE(writer->Set("k", "v").ok());
  const auto files = [this] {
    std::set<std::pair<std::string, uintmax_t>> names;
    for (const auto& entry : fs::directory_iterator(path_)) {
      names.emplace(entry.path().filename().string(), entry.file_size());
    }
    return names;
  };
  const auto before = files();
  RocksDbOptions options;
  options.read_only = true;
  const auto reader = Open(options);
  EXPECT_EQ(files(), before);
  EXPECT_THAT(Contents(*reader), ElementsAre(Pair("k", "v")));
  EXPECT_FALSE(reader->Set("k", "w").ok());
}

TEST_F(RocksDbEngineTest, SecondOpenInThisProcessIsRefused) {
  const auto engine = Open();
  EXPECT_THAT(RocksDbEngine::Open(path_, {}), FailsWith(absl::StatusCode::kFailedPrecondition,
                                                        path_ + ": it is already open in this"));
}

TEST_F(RocksDbEngineTest, OpenInAnotherProcessIsRefused) {
  ChildProcess child("hold-open", path_);
  ASSERT_EQ(child.Receive(), 1u);
  EXPECT_THAT(RocksDbEngine::Open(path_, {}), FailsWith(absl::StatusCode::kFailedPrecondition,
                                                        path_ + ": another process has it open"));
  EXPECT_EQ(child.Finish(), 0);
  EXPECT_NE(Open(), nullptr);
}

TEST_F(RocksDbEngineTest, OtherThingsAreNotTakenForADatabase) {
  fs::create_directories(path_);
  const auto touch = [this](const std::string& name, const std::string& bytes) {
    std::ofstream(path_ + "/" + name) << bytes;
  };
  // LevelDB's; RocksDB would abort.
  touch("CURRENT", "MANIFEST-000000\n");
  touch("MANIFEST-000000", "");
  touch("000001.log", "");
  EXPECT_THAT(RocksDbEngine::Open(path_, {}),
              FailsWith(absl::StatusCode::kFailedPrecondition, "not written by RocksDB"));
  // A damaged one; RocksDB would begin anew and delete the tables.
  fs::remove(path_ + "/CURRENT");
  touch("000007.sst", "table");
  EXPECT_THAT(RocksDbEngine::Open(path_, {}),
              FailsWith(absl::StatusCode::kDataLoss, "CURRENT is missing"));
  EXPECT_TRUE(fs::exists(path_ + "/000007.sst"));

  const std::string file = dir_.path() + "/file";
  std::ofstream(file) << "x";
  EXPECT_THAT(RocksDbEngine::Open(file, {}),
              FailsWith(absl::StatusCode::kFailedPrecondition, file));
}

TEST_F(RocksDbEngineTest, DamageIsReported) {
  {
    const auto engine = Open();
    std::mt19937_64 random(1);
    for (uint64_t i = 0; i < 100; ++i) {
      ASSERT_TRUE(engine->Set(Key(i), RandomBytes(random, 1000)).ok());
    }
    ASSERT_TRUE(engine->Flush().ok());
  }
  const auto damage = [this](const std::string& start, uint64_t offset) {
    for (const auto& entry : fs::directory_iterator(path_)) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with(start) && !name.ends_with(start)) continue;
      std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
      file.seekg(static_cast<std::streamoff>(offset));
      const int byte = file.get();
      file.seekp(static_cast<std::streamoff>(offset));
      file.put(static_cast<char>(byte ^ 0x55));
    }
  };
  damage(".sst", 500);
  {
    const auto engine = Open();
    std::string value;
    EXPECT_THAT(engine->Get(Key(0), &value), FailsWith(absl::StatusCode::kDataLoss, path_));
    EXPECT_THAT(engine->Has(Key(0)), FailsWith(absl::StatusCode::kDataLoss, path_));
    const auto it = engine->NewIterator(KeyRange::All(), Direction::kForward);
    EXPECT_FALSE(it->Valid());
    EXPECT_THAT(it->status(), FailsWith(absl::StatusCode::kDataLoss, path_));
  }
  damage("MANIFEST-", 20);
  EXPECT_THAT(RocksDbEngine::Open(path_, {}), FailsWith(absl::StatusCode::kDataLoss, path_));
}

TEST_F(RocksDbEngineTest, UnwritableDirectoryIsRefused) {
  fs::create_directories(dir_.path() + "/some");
  fs::permissions(dir_.path(), fs::perms::others_exec, fs::perm_options::add);
  fs::permissions(dir_.path() + "/some", fs::perms{0555});
  ChildProcess child("open-as-nobody", path_);
  EXPECT_EQ(child.Receive(), static_cast<uint64_t>(absl::StatusCode::kPermissionDenied));
  EXPECT_EQ(child.Finish(), 0);
  fs::permissions(dir_.path() + "/some", fs::perms::owner_all);
}

TEST_F(RocksDbEngineTest, CheckpointIsACopyOfItsTime) {
  const auto engine = Open();
  ASSERT_TRUE(engine->Set("k", "old").ok());
  const std::string copy = dir_.path() + "/copy";
  ASSERT_TRUE(engine->Checkpoint(copy).ok());
  ASSERT_TRUE(engine->Set("k", "new").ok());
  {
    const auto opened = RocksDbEngine::Open(copy, {});
    ASSERT_TRUE(opened.ok()) << opened.status();
    EXPECT_THAT(Contents(**opened), ElementsAre(Pair("k", "old")));
  }
  EXPECT_THAT(engine->Checkpoint(copy), FailsWith(absl::StatusCode::kInvalidArgument, copy));
}

TEST_F(RocksDbEngineTest, StatsAndListenersFollowTheJobs) {
  std::mutex mutex;
  std::set<std::pair<BackgroundJob::Kind, std::string>> jobs;
  std::set<std::thread::id> threads;
  RocksDbOptions options;
  options.background_job_listeners.push_back([&](const BackgroundJob& job) {
    const std::lock_guard lock(mutex);
    jobs.emplace(job.kind, job.reason);
    threads.insert(std::this_thread::get_id());
  });
  const auto engine = Open(options);
  std::mt19937_64 random(1);
  uint64_t written = 0;
  for (int round = 0; round < 3; ++round) {
    for (int batches = 0; batches < 20; ++batches) {
      WriteBatch batch;
      for (int i = 0; i < 500; ++i) batch.Put(Key(random() % 20000), RandomBytes(random, 100));
      written += batch.byte_size();
      ASSERT_TRUE(engine->Write(batch, Durability::kProcessCrash).ok());
    }
    const Engine::Stats before = engine->stats();
    EXPECT_EQ(before.level0_files, static_cast<uint64_t>(round));
    ASSERT_TRUE(engine->Flush().ok());
    ASSERT_TRUE(engine->WaitForBackgroundWork().ok());
    EXPECT_EQ(engine->stats().level0_files, static_cast<uint64_t>(round + 1));
    EXPECT_GT(engine->stats().flush_cpu_micros, before.flush_cpu_micros);
  }
  Engine::Stats stats = engine->stats();
  EXPECT_EQ(stats.compaction_bytes, 0u);
  EXPECT_EQ(stats.compaction_cpu_micros, 0u);
  EXPECT_GE(stats.bytes_written, written * 3 / 2);  // log and, less what was overwritten, tables
  EXPECT_GE(stats.db_bytes, 1u << 20);
  EXPECT_GT(stats.memory_bytes, 0u);

  ASSERT_TRUE(engine->CompactAll().ok());
  stats = engine->stats();
  EXPECT_EQ(stats.level0_files, 0u);
  EXPECT_GT(stats.compaction_bytes, 3u << 20);
  EXPECT_GT(stats.compaction_cpu_micros, 0u);
  EXPECT_EQ(stats.seek_compactions, 0u);

  const std::lock_guard lock(mutex);
  EXPECT_THAT(jobs, Contains(Pair(BackgroundJob::Kind::kFlush, "manual")));
  EXPECT_THAT(jobs, Contains(Pair(BackgroundJob::Kind::kCompaction, "manual")));
  EXPECT_FALSE(threads.contains(std::this_thread::get_id()));
}

TEST_F(RocksDbEngineTest, MemoryStaysNearTheBudget) {
  RocksDbOptions options;
  options.memory_budget_bytes = 16 << 20;
  const auto engine = Open(options);
  std::mt19937_64 random(1);
  for (int i = 0; i < 300; ++i) {
    WriteBatch batch;
    for (int j = 0; j < 100; ++j) batch.Put(Key(random() % 1000000), RandomBytes(random, 1000));
    ASSERT_TRUE(engine->Write(batch, Durability::kProcessCrash).ok());
    ASSERT_LE(engine->stats().memory_bytes, options.memory_budget_bytes * 5 / 4) << i;
  }
  const auto it = engine->NewIterator(KeyRange::All(), Direction::kForward);
  for (; it->Valid(); it->Next()) {
  }
  EXPECT_LE(engine->stats().memory_bytes, options.memory_budget_bytes * 5 / 4);
}

TEST_F(RocksDbEngineTest, SettingsThatRunsRelyOn) {
  const auto settings = MakeRocksDbSettings({});
  ASSERT_TRUE(settings.ok());
  EXPECT_TRUE(settings->level_compaction_dynamic_level_bytes);
  EXPECT_EQ(settings->stats_dump_period_sec, 0u);
  EXPECT_EQ(settings->periodic_compaction_seconds, 0u);
  EXPECT_EQ(settings->max_background_jobs, 2);
  EXPECT_TRUE(VerifyReadsTriggerNothing(*settings).ok());
}

// --- bulk load ---

TEST_F(RocksDbEngineTest, BulkLoadShowsEverythingAtFinish) {
  const auto engine = Open();
  ASSERT_TRUE(engine->Set("earlier", "kept").ok());
  ASSERT_TRUE(engine->Set(Key(5), "overwritten").ok());
  Pairs expected;
  {
    // Runs of 64 KiB, so that several overlap, in an order that is none.
    const auto loader = engine->NewBulkLoader(64 << 10);
    for (uint64_t i = 0; i < 20; ++i) {
      WriteBatch batch;
      for (uint64_t j = 0; j < 500; ++j) batch.Put(Key((i * 500 + j) * 7919 % 10000), "stale");
      for (uint64_t j = 0; j < 500; ++j) {
        const uint64_t key = (i * 500 + j) * 7919 % 10000;
        batch.Put(Key(key), "v" + std::to_string(key));
      }
      ASSERT_TRUE(loader->Add(batch).ok());
    }
    EXPECT_THAT(engine->Has(Key(6)), IsOkAnd(false));
    ASSERT_TRUE(loader->Finish().ok());
  }
  for (uint64_t i = 0; i < 10000; ++i) expected.emplace_back(Key(i), "v" + std::to_string(i));
  expected.emplace_back("earlier", "kept");
  EXPECT_EQ(Contents(*engine), expected);
  EXPECT_FALSE(fs::exists(path_ + "/bulk-load"));
  ASSERT_TRUE(engine->CompactAll().ok());
  EXPECT_EQ(Contents(*engine), expected);
}

TEST_F(RocksDbEngineTest, LaterRunsOfABulkLoadWin) {
  const auto engine = Open();
  const auto loader = engine->NewBulkLoader(1);  // each batch is a run
  for (int i = 0; i < 5; ++i) {
    WriteBatch batch;
    batch.Put("a" + std::to_string(i), "");
    batch.Put("k", std::to_string(i));
    batch.Put("z" + std::to_string(i), "");
    ASSERT_TRUE(loader->Add(batch).ok());
  }
  ASSERT_TRUE(loader->Finish().ok());
  std::string value;
  EXPECT_THAT(engine->Get("k", &value), IsOkAnd(true));
  EXPECT_EQ(value, "4");
  ASSERT_TRUE(engine->CompactAll().ok());
  EXPECT_THAT(engine->Get("k", &value), IsOkAnd(true));
  EXPECT_EQ(value, "4");
}

TEST_F(RocksDbEngineTest, UnfinishedBulkLoadLeavesNothing) {
  auto engine = Open();
  {
    const auto loader = engine->NewBulkLoader(1);
    WriteBatch batch;
    batch.Put("k", "v");
    ASSERT_TRUE(loader->Add(batch).ok());
    EXPECT_TRUE(fs::exists(path_ + "/bulk-load"));
    WriteBatch deletes;
    deletes.Delete("k");
    EXPECT_THAT(loader->Add(deletes), FailsWith(absl::StatusCode::kInvalidArgument, "deletes"));
  }
  EXPECT_FALSE(fs::exists(path_ + "/bulk-load"));
  EXPECT_TRUE(Contents(*engine).empty());
  const auto empty = engine->NewBulkLoader();
  EXPECT_TRUE(empty->Finish().ok());
  // As after a kill.
  fs::create_directory(path_ + "/bulk-load");
  std::ofstream(path_ + "/bulk-load/1.sst") << "x";
  engine.reset();
  engine = Open();
  EXPECT_FALSE(fs::exists(path_ + "/bulk-load"));
}

// --- crashes and full disks ---

// Fails the test unless the contents are those after some number of whole batches. Returns it.
uint64_t WholeBatches(const Engine& engine) {
  std::string value = "0";
  EXPECT_TRUE(engine.Get("counter", &value).ok());
  const uint64_t n = std::stoull(value);
  for (uint64_t i = 0; i < 10 && n > 0; ++i) {
    EXPECT_THAT(engine.Get("live/" + std::to_string(i), &value), IsOkAnd(true));
    EXPECT_EQ(value, std::to_string(n));
  }
  std::vector<std::string> expected;
  for (uint64_t i = (n > 50 ? n - 49 : 1) * 10; n > 0 && i < (n + 1) * 10; ++i) {
    expected.push_back("log/" + Key(i));
  }
  std::vector<std::string> keys;
  for (const auto& [key, text] :
       Drain(*engine.NewIterator(KeyRange::Prefix("log/"), Direction::kForward))) {
    keys.push_back(key);
  }
  EXPECT_EQ(keys, expected);
  return n;
}

TEST_F(RocksDbEngineTest, KillLeavesWholeBatches) {
  std::mt19937_64 random(20250101);
  uint64_t before = 0;
  for (int round = 0; round < 20; ++round) {
    uint64_t last = before;
    {
      ChildProcess child("write-batches", path_, before);
      // A random number of acknowledged batches, then a random moment.
      const uint64_t wait_for = before + 1 + random() % 400;
      while (last < wait_for) {
        const std::optional<uint64_t> acknowledged = child.Receive();
        ASSERT_TRUE(acknowledged);
        last = *acknowledged;
      }
      usleep(static_cast<useconds_t>(random() % 2000));
      child.Kill();
      while (const std::optional<uint64_t> acknowledged = child.Receive()) last = *acknowledged;
    }
    const auto engine = Open(SmallOptions());
    ASSERT_NE(engine, nullptr);
    const uint64_t n = WholeBatches(*engine);
    ASSERT_FALSE(HasFailure()) << "round " << round;
    // What was acknowledged is there, and at most the batch that was being written.
    ASSERT_GE(n, last);
    ASSERT_LE(n, last + 1);
    before = n;
  }
}

// The database is still filled with whole batches, and goes on when there is space.
void ExpectWholeAfterFull(const std::string& path, uint64_t written) {
  const auto engine = RocksDbEngine::Open(path, SmallOptions());
  ASSERT_TRUE(engine.ok()) << engine.status();
  EXPECT_EQ(WholeBatches(**engine), written);
  ASSERT_TRUE((*engine)->Write(NumberedBatch(written + 1), Durability::kPowerLoss).ok());
  EXPECT_EQ(WholeBatches(**engine), written + 1);
}

TEST_F(RocksDbEngineTest, FullDiskIsACleanError) {
  const std::string mount_point = dir_.path() + "/tiny";
  fs::create_directory(mount_point);
  if (mount("tmpfs", mount_point.c_str(), "tmpfs", 0, "size=8m") != 0) {
    GTEST_SKIP() << "may not mount a tiny file system";
  }
  std::ofstream(mount_point + "/ballast") << std::string(2 << 20, 'x');
  const std::string path = mount_point + "/db";
  uint64_t written = 0;
  EXPECT_THAT(WriteUntilError(path, &written),
              FailsWith(absl::StatusCode::kResourceExhausted, path));
  fs::remove(mount_point + "/ballast");
  ExpectWholeAfterFull(path, written);
  EXPECT_EQ(umount2(mount_point.c_str(), MNT_DETACH), 0);
}

// For users who may not mount: a limit of file sizes, which the write-ahead log reaches first.
TEST_F(RocksDbEngineTest, FileSizeLimitIsACleanError) {
  ChildProcess child("fill-under-limit", path_);
  const std::optional<uint64_t> code = child.Receive();
  const std::optional<uint64_t> written = child.Receive();
  EXPECT_EQ(child.Finish(), 0);
  EXPECT_EQ(code, static_cast<uint64_t>(absl::StatusCode::kResourceExhausted));
  ASSERT_TRUE(written);
  ExpectWholeAfterFull(path_, *written);
}

}  // namespace
}  // namespace blockreplay::storage
