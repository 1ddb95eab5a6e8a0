// The profiler knows nothing of RocksDB, but must see through it: Debian's has no frame pointers
// and no debug symbols.
#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

#include "profiling/labels.h"
#include "profiling/process_stats.h"
#include "profiling/profile_file.h"
#include "profiling/profiler.h"
#include "profiling/test_util.h"

namespace blockreplay::profiling {

__attribute__((noinline)) void CallRocksDb(rocksdb::DB* db, int64_t cpu_nanos) {
  const int64_t end = ThreadCpuNanos() + cpu_nanos;
  std::string value(200, 'v');
  std::string read;
  uint64_t state = 1;
  while (ThreadCpuNanos() < end) {
    rocksdb::WriteBatch batch;
    for (int i = 0; i < 500; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      std::memcpy(value.data(), &state, sizeof(state));
      ASSERT_TRUE(batch.Put({value.data(), 8}, value).ok());
    }
    ASSERT_TRUE(db->Write({}, &batch).ok());
    for (int i = 0; i < 500; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      std::memcpy(value.data(), &state, sizeof(state));
      const rocksdb::Status status = db->Get({}, {value.data(), 8}, &read);
      ASSERT_TRUE(status.ok() || status.IsNotFound());
    }
  }
}

namespace {

TEST(RocksDbStacksTest, ReachOurCallersAndNameBackgroundThreads) {
  std::string directory = ::testing::TempDir() + "/rocksdb_stacks_test_XXXXXX";
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  auto profiler = Profiler::Start({.cpu = true});
  ASSERT_TRUE(profiler.ok()) << profiler.status();
  const int64_t before = GetProcessUsage().cpu_nanos();
  {
    rocksdb::Options options;
    options.create_if_missing = true;
    // Small, so that it flushes and compacts a lot.
    options.write_buffer_size = 2 << 20;
    options.target_file_size_base = 2 << 20;
    options.max_bytes_for_level_base = 8 << 20;
    options.IncreaseParallelism(2);
    rocksdb::DB* opened = nullptr;
    ASSERT_TRUE(rocksdb::DB::Open(options, directory, &opened).ok());
    const std::unique_ptr<rocksdb::DB> db(opened);
    RefreshProfiledThreads();
    ScopedLabel phase(LabelKey::kPhase, InternLabel("foreground"));
    CallRocksDb(db.get(), 2'000'000'000);
  }
  const int64_t used = GetProcessUsage().cpu_nanos() - before;
  (*profiler)->Stop();
  const auto profile = (*profiler)->Collect(ProfileKind::kCpu, {});
  ASSERT_TRUE(profile.ok()) << profile.status();
  ASSERT_TRUE(CheckProfile(*profile).ok()) << CheckProfile(*profile);
  std::filesystem::remove_all(directory);
  if (!kSignalsArriveAtOnce) return;

  const auto nanos = [](int64_t value) { return static_cast<double>(value); };
  EXPECT_NEAR(nanos(Sum(*profile, 1)), nanos(used), 0.2 * nanos(used));
  auto phases = SumByLabel(*profile, "phase", 1);
  ASSERT_GT(phases["foreground"], 1'000'000'000);
  const double reached = nanos(SumUnder(*profile, "CallRocksDb", 1)) / nanos(phases["foreground"]);
  RecordProperty("foreground_samples_that_reach_our_caller", std::to_string(reached));
  EXPECT_GE(reached, 0.9);
  auto roles = SumByLabel(*profile, "thread_role", 1);
  EXPECT_GT(roles["compaction"], 0);
  EXPECT_GT(roles["flush"], 0);
  EXPECT_GT(SumUnder(*profile, "rocksdb::", 1), 0);
}

}  // namespace
}  // namespace blockreplay::profiling
