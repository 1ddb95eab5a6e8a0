// A process that makes versions is killed at random moments. Whatever it left must open at a
// version that was made, not before the last one that it knew to be written, with the right hash
// and contents.

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "storage/kv/rocksdb_engine.h"
#include "storage/multistore/multistore.h"
#include "storage/multistore/test_util.h"

extern char** environ;

namespace blockreplay::storage {
namespace {

constexpr char kDirVariable[] = "BLOCKREPLAY_CRASH_TEST_DIR";
constexpr char kModeVariable[] = "BLOCKREPLAY_CRASH_TEST_MODE";
const std::vector<std::string> kStores = {"acc", "bank", "empty"};

MultistoreOptions Options(Persistence persistence) {
  MultistoreOptions options;
  options.stores = Specs(kStores);
  options.persistence = persistence;
  options.fast_nodes = false;
  options.prune_interval = 3;
  options.keep_recent = persistence == Persistence::kEvery ? 2 : 1;
  options.flush_interval_blocks = 4;
  options.threads = 2;
  return options;
}

// The next version, whose writes depend on nothing but its number.
absl::Status MakeNext(Multistore* store) {
  const int64_t version = store->version() + 1;
  Random random(static_cast<uint64_t>(version));
  for (int i = 0; i < 30; ++i) {
    Store* const s = store->store(kStores[random.Below(2)]);
    const std::string key = absl::StrCat("key", random.Below(500));
    absl::Status status =
        random.Below(4) == 0 ? s->Delete(key) : s->Set(key, absl::StrCat(random.Next()));
    if (!status.ok()) return status;
  }
  absl::Status status = store->WorkingCommit({.seconds = version, .nanos = 0}).status();
  return status.ok() ? store->Commit() : status;
}

// Not a test of its own: what the killed process does. Writes the versions that it knows to be
// written to descriptor 3, eight bytes each.
TEST(CrashTestChild, Runs) {
  const char* const dir = std::getenv(kDirVariable);    // NOLINT(concurrency-mt-unsafe)
  const char* const mode = std::getenv(kModeVariable);  // NOLINT(concurrency-mt-unsafe)
  if (dir == nullptr || mode == nullptr) GTEST_SKIP() << "only as a child of the crash test";
  const auto persistence =
      std::string(mode) == "every" ? Persistence::kEvery : Persistence::kDeferred;
  auto engine = RocksDbEngine::Open(dir, {});
  ASSERT_TRUE(engine.ok()) << engine.status();
  auto store = OpenOrDie(engine->get(), Options(persistence));
  while (true) {
    ASSERT_STATUS_OK(MakeNext(store.get()));
    if (store->version() % 3 != 0) continue;
    ASSERT_STATUS_OK(store->Sync());
    const int64_t version = store->version();
    ASSERT_EQ(write(3, &version, sizeof(version)), static_cast<ssize_t>(sizeof(version)));
  }
}

// Starts the child on `dir`, kills it after `delay` and gives the last version that it reported, 0
// for none.
int64_t RunAndKill(const std::string& dir, const std::string& mode,
                   std::chrono::milliseconds delay) {
  int reports[2];
  if (pipe2(reports, O_CLOEXEC) != 0) std::abort();
  fcntl(reports[0], F_SETFL, O_NONBLOCK);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, reports[1], 3);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable)
    variables.emplace_back(*variable);
  variables.push_back(absl::StrCat(kDirVariable, "=", dir));
  variables.push_back(absl::StrCat(kModeVariable, "=", mode));
  std::vector<char*> environment;
  for (std::string& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);
  std::string program = "/proc/self/exe";
  std::string filter = "--gtest_filter=CrashTestChild.Runs";
  char* arguments[] = {program.data(), filter.data(), nullptr};
  pid_t child = 0;
  if (posix_spawn(&child, program.c_str(), &actions, nullptr, arguments, environment.data()) != 0) {
    std::abort();
  }
  posix_spawn_file_actions_destroy(&actions);
  close(reports[1]);

  // The delay counts from the first report: before that the program is being loaded.
  int64_t last = 0;
  int64_t version = 0;
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (read(reports[0], &version, sizeof(version)) != static_cast<ssize_t>(sizeof(version))) {
    if (std::chrono::steady_clock::now() > give_up) {
      ADD_FAILURE() << "the child makes no versions";
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  last = version;
  std::this_thread::sleep_for(delay);
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the child ended by itself";
  while (read(reports[0], &version, sizeof(version)) == static_cast<ssize_t>(sizeof(version)))
    last = version;
  close(reports[0]);
  return last;
}

class CrashTest : public ::testing::TestWithParam<const char*> {};

TEST_P(CrashTest, KilledAtAnyMoment) {
  const auto persistence =
      std::string(GetParam()) == "every" ? Persistence::kEvery : Persistence::kDeferred;
  TempDir dir;
  const std::string path = dir.path() + "/application.db";
  Random random(static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()));

  // What should be there: the same versions, made in memory and without interruption.
  MemoryEngine reference_engine;
  MultistoreOptions reference_options = Options(Persistence::kEvery);
  reference_options.threads = 1;
  auto reference = OpenOrDie(&reference_engine, reference_options);

  int64_t last = 0;
  for (int round = 0; round < 10; ++round) {
    const auto delay = std::chrono::milliseconds(random.Below(60));
    const int64_t reported = RunAndKill(path, GetParam(), delay);
    SCOPED_TRACE(absl::StrCat("round ", round, ", killed after ", delay.count(), " ms, version ",
                              reported, " was reported"));
    auto engine = RocksDbEngine::Open(path, {});
    ASSERT_TRUE(engine.ok()) << engine.status();
    auto store = OpenOrDie(engine->get(), Options(persistence));
    EXPECT_GE(store->version(), std::max(last, reported));
    last = store->version();
    while (reference->version() < last) ASSERT_STATUS_OK(MakeNext(reference.get()));
    EXPECT_EQ(ToHex(store->app_hash()), ToHex(reference->app_hash()));
    for (const std::string& name : kStores) {
      EXPECT_EQ(Contents(*store->store(name)), Contents(*reference->store(name))) << name;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(last, 20);

  // To the end: after a clean stop the database is the one that an uninterrupted run leaves.
  auto engine = RocksDbEngine::Open(path, {});
  ASSERT_TRUE(engine.ok()) << engine.status();
  auto store = OpenOrDie(engine->get(), Options(persistence));
  // Pruning is a write of its own after the commit, as in the Go node: where the process died
  // between the two, the next pruning makes up for it.
  do {
    ASSERT_STATUS_OK(MakeNext(store.get()));
  } while (store->version() % 3 != 0);
  ASSERT_STATUS_OK(store->Close());
  while (reference->version() < store->version()) ASSERT_STATUS_OK(MakeNext(reference.get()));
  ASSERT_STATUS_OK(reference->Close());
  if (persistence == Persistence::kEvery) {
    EXPECT_EQ(DumpHex(**engine), DumpHex(reference_engine));
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, CrashTest, ::testing::Values("every", "deferred"),
                         [](const auto& param) { return std::string(param.param); });

}  // namespace
}  // namespace blockreplay::storage
