#include "profiling/profiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "profiling/labels.h"
#include "profiling/process_stats.h"
#include "profiling/profile_file.h"
#include "profiling/test_util.h"

namespace blockreplay::profiling {

// Names to look for in profiles.
__attribute__((noinline)) void ProfiledWork(int64_t nanos) {
  UseCpu(nanos);
  asm volatile("");  // not a tail call
}

__attribute__((noinline)) std::unique_ptr<char[]> ProfiledAllocation(size_t size) {
  auto memory = std::make_unique<char[]>(size);
  asm volatile("" : : "r"(memory.get()) : "memory");
  return memory;
}

namespace {

using perftools::profiles::Profile;
using ::testing::HasSubstr;

constexpr int64_t kMilli = 1'000'000;

Profile CollectOrDie(Profiler& profiler, ProfileKind kind, const ProfileRequest& request = {}) {
  auto profile = profiler.Collect(kind, request);
  if (!profile.ok()) {
    ADD_FAILURE() << profile.status();
    return {};
  }
  const absl::Status valid = CheckProfile(*profile);
  EXPECT_TRUE(valid.ok()) << valid;
  return *std::move(profile);
}

std::unique_ptr<Profiler> StartOrDie(const ProfilerOptions& options) {
  auto profiler = Profiler::Start(options);
  if (!profiler.ok()) {
    ADD_FAILURE() << profiler.status();
    return nullptr;
  }
  return *std::move(profiler);
}

// Relative to `expected`; for tests on busy machines.
void ExpectAbout(int64_t actual, int64_t expected, double tolerance) {
  EXPECT_NEAR(static_cast<double>(actual), static_cast<double>(expected),
              tolerance * static_cast<double>(expected));
}

TEST(ProfilerTest, CpuByLabelAddsUpToWhatThreadsUsed) {
  const auto profiler = StartOrDie({.cpu = true});
  ASSERT_NE(profiler, nullptr);
  const int64_t before = GetProcessUsage().cpu_nanos();
  std::thread hash([] {
    SetThreadRole("hash");
    ScopedLabel phase(LabelKey::kPhase, InternLabel("hash"));
    ScopedLabel store(LabelKey::kStore, InternLabel("bank"));
    ProfiledWork(600 * kMilli);
  });
  // Nobody tells the profiler of this one.
  std::thread found([] {
    ScopedLabel phase(LabelKey::kPhase, InternLabel("found"));
    ProfiledWork(400 * kMilli);
  });
  {
    ScopedLabel phase(LabelKey::kPhase, InternLabel("deliver_tx"));
    ScopedLabel type(LabelKey::kMsgType, InternLabel("MsgDeposit"));
    ScopedHeight height(250);
    ProfiledWork(800 * kMilli);
  }
  hash.join();
  found.join();
  const int64_t used = GetProcessUsage().cpu_nanos() - before;
  profiler->Stop();
  const Profile profile = CollectOrDie(*profiler, ProfileKind::kCpu);
  if (!kSignalsArriveAtOnce) return;

  constexpr int kNanos = 1;
  ExpectAbout(Sum(profile, kNanos), used, 0.2);
  auto phases = SumByLabel(profile, "phase", kNanos);
  ExpectAbout(phases["deliver_tx"], 800 * kMilli, 0.2);
  ExpectAbout(phases["hash"], 600 * kMilli, 0.2);
  ExpectAbout(phases["found"], 400 * kMilli, 0.2);
  auto roles = SumByLabel(profile, "thread_role", kNanos);
  ExpectAbout(roles["main"], 800 * kMilli, 0.2);
  ExpectAbout(roles["hash"], 600 * kMilli, 0.2);
  ExpectAbout(SumByLabel(profile, "store", kNanos)["bank"], 600 * kMilli, 0.2);
  ExpectAbout(SumByLabel(profile, "msg_type", kNanos)["MsgDeposit"], 800 * kMilli, 0.2);
  // In its bucket of 100.
  ExpectAbout(SumByLabel(profile, "height", kNanos)["200"], 800 * kMilli, 0.2);
  ExpectAbout(SumUnder(profile, "ProfiledWork", kNanos), 1800 * kMilli, 0.2);

  const ProfilerStats stats = profiler->Stats();
  EXPECT_EQ(stats.lost_samples, 0u);
  EXPECT_EQ(stats.sampled_cpu_nanos, Sum(profile, kNanos));
  ExpectAbout(stats.process_cpu_nanos, used, 0.1);
  EXPECT_GT(stats.handler_nanos, 0);
}

TEST(ProfilerTest, OverrunsCountWhenTheTimerIsFasterThanTheTick) {
  if (!kSignalsArriveAtOnce) GTEST_SKIP() << "signals are held back";
  // Where the kernel ticks at 250 Hz, three of four expiries are in the overrun count only.
  const auto profiler = StartOrDie({.cpu = true, .cpu_hz = 1000});
  ASSERT_NE(profiler, nullptr);
  const int64_t before = GetProcessUsage().cpu_nanos();
  ProfiledWork(800 * kMilli);
  const int64_t used = GetProcessUsage().cpu_nanos() - before;
  profiler->Stop();
  const Profile profile = CollectOrDie(*profiler, ProfileKind::kCpu);
  ExpectAbout(Sum(profile, 1), used, 0.2);
  EXPECT_EQ(Sum(profile, 0) * kMilli, Sum(profile, 1));
}

TEST(ProfilerTest, IntervalsBetweenMarks) {
  const auto profiler = StartOrDie({.cpu = true});
  ASSERT_NE(profiler, nullptr);
  const auto work = [](int64_t height) {
    ScopedHeight scope(height);
    ProfiledWork(200 * kMilli);
  };
  work(101);
  const ProfileMark first = profiler->TakeMark();
  work(102);
  work(103);
  const ProfileMark second = profiler->TakeMark();
  work(104);
  const Profile middle =
      CollectOrDie(*profiler, ProfileKind::kCpu, {.since = &first, .until = &second});
  const Profile tail = CollectOrDie(*profiler, ProfileKind::kCpu, {.since = &second});
  profiler->Stop();
  const Profile whole = CollectOrDie(*profiler, ProfileKind::kCpu);
  EXPECT_FALSE(profiler->Collect(ProfileKind::kCpu, {.until = &second}).ok());
  const ProfileMark empty;
  EXPECT_FALSE(profiler->Collect(ProfileKind::kCpu, {.since = &empty}).ok());
  if (!kSignalsArriveAtOnce) return;

  auto heights = SumByLabel(middle, "height", 1);
  EXPECT_EQ(heights.count("101") + heights.count("104"), 0u);
  ExpectAbout(heights["102"], 200 * kMilli, 0.25);
  ExpectAbout(heights["103"], 200 * kMilli, 0.25);
  heights = SumByLabel(tail, "height", 1);
  EXPECT_EQ(heights.count("103"), 0u);
  ExpectAbout(heights["104"], 200 * kMilli, 0.25);
  ExpectAbout(SumByLabel(whole, "height", 1)["100"], 800 * kMilli, 0.2);
}

TEST(ProfilerTest, WallTimeOfBlockedThreads) {
  const auto profiler = StartOrDie({.wall = true});
  ASSERT_NE(profiler, nullptr);
  std::mutex mutex;
  std::condition_variable condition;
  bool done = false;
  std::thread blocked([&] {
    SetThreadRole("blocked");
    ScopedLabel phase(LabelKey::kPhase, InternLabel("waiting"));
    std::unique_lock lock(mutex);
    condition.wait(lock, [&] { return done; });
  });
  const int64_t start = MonotonicNanos();
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  {
    std::lock_guard lock(mutex);
    done = true;
  }
  condition.notify_all();
  blocked.join();
  const int64_t waited = MonotonicNanos() - start;
  profiler->Stop();
  const Profile profile = CollectOrDie(*profiler, ProfileKind::kWall);
  EXPECT_EQ(StringOf(profile, profile.sample_type(1).type()), "wall");
  ExpectAbout(SumByLabel(profile, "phase", 1)["waiting"], waited, 0.25);
  ExpectAbout(SumByLabel(profile, "thread_role", 1)["main"], waited, 0.25);
}

TEST(ProfilerTest, ThreadsComeAndGoWhileProfilersStartAndStop) {
  std::atomic<bool> stop{false};
  std::thread spawner([&] {
    while (!stop) {
      std::vector<std::thread> threads;
      for (int i = 0; i < 8; ++i) {
        threads.emplace_back([i] {
          if (i % 2 == 0) SetThreadRole("short");
          ScopedLabel phase(LabelKey::kPhase, InternLabel("short"));
          const auto memory = ProfiledAllocation(100'000);
          ProfiledWork(2 * kMilli);
        });
      }
      for (std::thread& thread : threads) thread.join();
    }
  });
  for (int round = 0; round < 8; ++round) {
    const auto profiler = StartOrDie({.cpu = true,
                                      .wall = true,
                                      .heap = Profiler::HeapProfilingAvailable(),
                                      .cpu_hz = 1000,
                                      .wall_hz = 1000,
                                      .heap_sample_bytes = 10'000});
    ASSERT_NE(profiler, nullptr);
    ProfileMark mark = profiler->TakeMark();
    ProfiledWork(20 * kMilli);
    profiler->RefreshThreads();
    mark = profiler->TakeMark();
    ProfiledWork(20 * kMilli);
    if (round % 4 == 0) {
      CollectOrDie(*profiler, ProfileKind::kCpu, {.since = &mark});
    }
    profiler->Stop();
    if (round % 4 == 0) {
      const Profile wall = CollectOrDie(*profiler, ProfileKind::kWall);
      EXPECT_GT(Sum(wall, 1), 0);
    }
  }
  stop = true;
  spawner.join();
}

TEST(ProfilerTest, SystemCallsGoOnAfterSamples) {
  const auto profiler = StartOrDie({.cpu = true, .wall = true, .wall_hz = 1000});
  ASSERT_NE(profiler, nullptr);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::thread reader([&] {
    char byte = 0;
    // Would fail with EINTR at the first sample without SA_RESTART.
    EXPECT_EQ(read(ends[0], &byte, 1), 1);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(write(ends[1], "x", 1), 1);
  reader.join();
  close(ends[0]);
  close(ends[1]);
}

TEST(ProfilerTest, HeapByLabelIsNearTheTruth) {
  if (!Profiler::HeapProfilingAvailable()) GTEST_SKIP() << "not on tcmalloc";
  const auto profiler = StartOrDie({.heap = true, .heap_sample_bytes = 64 * 1024});
  ASSERT_NE(profiler, nullptr);
  std::vector<std::unique_ptr<char[]>> kept;
  constexpr int kSmall = 100'000;  // of 1,000 bytes: 1,500 samples
  constexpr int kLarge = 50;       // of 4 MB: each is sampled
  {
    ScopedLabel phase(LabelKey::kPhase, InternLabel("small"));
    for (int i = 0; i < kSmall; ++i) {
      auto memory = ProfiledAllocation(1000);
      if (i % 2 == 0) kept.push_back(std::move(memory));
    }
  }
  const ProfileMark mark = profiler->TakeMark();
  {
    ScopedLabel phase(LabelKey::kPhase, InternLabel("large"));
    for (int i = 0; i < kLarge; ++i) ProfiledAllocation(4'000'000);
  }
  const Profile since = CollectOrDie(*profiler, ProfileKind::kHeap, {.since = &mark});
  profiler->Stop();
  const Profile profile = CollectOrDie(*profiler, ProfileKind::kHeap);
  EXPECT_GT(profiler->Stats().heap_samples, 1000u);

  enum { kAllocObjects, kAllocSpace, kInuseObjects, kInuseSpace };
  const std::vector<std::string> kTypes = {"alloc_objects", "alloc_space", "inuse_objects",
                                           "inuse_space"};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(StringOf(profile, profile.sample_type(i).type()), kTypes[static_cast<size_t>(i)]);
  }
  // `kept` itself grows in this phase too, by at most 2 MB.
  ExpectAbout(SumByLabel(profile, "phase", kAllocObjects)["small"], kSmall, 0.15);
  ExpectAbout(SumByLabel(profile, "phase", kAllocSpace)["small"], 101'000'000, 0.15);
  ExpectAbout(SumByLabel(profile, "phase", kInuseObjects)["small"], kSmall / 2, 0.2);
  ExpectAbout(SumByLabel(profile, "phase", kInuseSpace)["small"], 51'000'000, 0.2);
  ExpectAbout(SumByLabel(profile, "phase", kAllocObjects)["large"], kLarge, 0.02);
  ExpectAbout(SumByLabel(profile, "phase", kAllocSpace)["large"], kLarge * 4'000'000, 0.02);
  EXPECT_EQ(SumByLabel(profile, "phase", kInuseSpace)["large"], 0);
  ExpectAbout(SumUnder(profile, "ProfiledAllocation", kAllocSpace), 300'000'000, 0.1);

  // After the mark: allocations of that phase only; in use is what is in use.
  EXPECT_EQ(SumByLabel(since, "phase", kAllocSpace)["small"], 0);
  ExpectAbout(SumByLabel(since, "phase", kAllocSpace)["large"], kLarge * 4'000'000, 0.02);
  ExpectAbout(SumByLabel(since, "phase", kInuseSpace)["small"], 51'000'000, 0.2);

  // The allocator's own frames are gone: the leaf is code that allocates.
  for (const auto& sample : profile.sample()) {
    const auto& leaf = profile.location(static_cast<int>(sample.location_id(0)) - 1);
    if (leaf.mapping_id() == 0) continue;
    const auto& mapping = profile.mapping(static_cast<int>(leaf.mapping_id()) - 1);
    EXPECT_EQ(StringOf(profile, mapping.filename()).find("libtcmalloc"), std::string::npos);
  }
}

TEST(ProfilerTest, CpuProfilersComeAndGoBesideAHeapProfiler) {
  if (!Profiler::HeapProfilingAvailable()) GTEST_SKIP() << "not on tcmalloc";
  const auto heap = StartOrDie({.heap = true});
  ASSERT_NE(heap, nullptr);
  EXPECT_TRUE(absl::IsFailedPrecondition(Profiler::Start({.heap = true}).status()));
  for (int round = 0; round < 2; ++round) {
    const auto cpu = StartOrDie({.cpu = true});
    ASSERT_NE(cpu, nullptr);
    ProfiledWork(100 * kMilli);
    ProfiledAllocation(50'000'000);
    EXPECT_GT(Sum(CollectOrDie(*cpu, ProfileKind::kCpu), 0), 0);
    // Asking for both fails as a whole, and takes nothing away.
    EXPECT_TRUE(absl::IsFailedPrecondition(Profiler::Start({.cpu = true, .heap = true}).status()));
    EXPECT_EQ(heap->Stats().cpu_samples, 0u);
  }
  ExpectAbout(SumUnder(CollectOrDie(*heap, ProfileKind::kHeap), "ProfiledAllocation", 1),
              100'000'000, 0.02);
}

TEST(ProfilerTest, GperftoolsBackend) {
  // Whether or not ours has run before.
  StartOrDie({.cpu = true})->Stop();
  auto started = Profiler::Start({.cpu = true, .cpu_backend = CpuBackend::kGperftools});
  if (absl::IsUnavailable(started.status())) GTEST_SKIP() << started.status();
  ASSERT_TRUE(started.ok()) << started.status();
  Profiler& profiler = **started;
  const int64_t before = GetProcessUsage().cpu_nanos();
  ProfiledWork(800 * kMilli);
  const int64_t used = GetProcessUsage().cpu_nanos() - before;
  EXPECT_TRUE(absl::IsFailedPrecondition(profiler.Collect(ProfileKind::kCpu, {}).status()));
  profiler.Stop();
  const Profile profile = CollectOrDie(profiler, ProfileKind::kCpu);
  if (!kSignalsArriveAtOnce) return;
  // Its process-wide timer loses ticks when the thread is preempted: on a busy machine a quarter
  // was seen missing.
  EXPECT_GT(Sum(profile, 1), used / 4);
  EXPECT_LT(Sum(profile, 1), used * 5 / 4);
  EXPECT_GE(SumUnder(profile, "ProfiledWork", 1), Sum(profile, 1) * 9 / 10);
  const ProfileMark mark = profiler.TakeMark();
  EXPECT_TRUE(
      absl::IsUnimplemented(profiler.Collect(ProfileKind::kCpu, {.since = &mark}).status()));
}

TEST(ProfilerTest, RefusesWhatItCannotDo) {
  EXPECT_TRUE(absl::IsInvalidArgument(Profiler::Start({.cpu = true, .cpu_hz = 0}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Profiler::Start({.cpu = true, .cpu_hz = 1001}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Profiler::Start({.wall = true, .wall_hz = 0}).status()));
  EXPECT_TRUE(
      absl::IsInvalidArgument(Profiler::Start({.heap = true, .heap_sample_bytes = 0}).status()));
  EXPECT_TRUE(
      absl::IsInvalidArgument(Profiler::Start({.cpu = true, .height_bucket = -1}).status()));
  if (!Profiler::HeapProfilingAvailable()) {
    const absl::Status status = Profiler::Start({.heap = true}).status();
    EXPECT_TRUE(absl::IsUnavailable(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("tcmalloc"));
  }
  const auto profiler = StartOrDie({.cpu = true});
  EXPECT_TRUE(absl::IsFailedPrecondition(Profiler::Start({.cpu = true}).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(Profiler::Start({.wall = true}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(profiler->Collect(ProfileKind::kWall, {}).status()));
}

// A program that is told to end: its loop ends, it writes.
TEST(ProfilerDeathTest, SurvivesSignalsThatAskToStop) {
  static volatile sig_atomic_t stop = 0;
  for (const int signal : {SIGINT, SIGTERM}) {
    EXPECT_EXIT(
        {
          struct sigaction action{};
          action.sa_handler = [](int) { stop = 1; };
          sigaction(signal, &action, nullptr);
          auto profiler = Profiler::Start({.cpu = true});
          std::thread killer([signal] { kill(getpid(), signal); });
          while (stop == 0) ProfiledWork(10 * kMilli);
          killer.join();
          ProfiledWork(100 * kMilli);
          (*profiler)->Stop();
          const std::string path = ::testing::TempDir() + "/interrupted.pb.gz";
          const bool written =
              (*profiler)->Write(ProfileKind::kCpu, {.path = path}).ok() && ReadProfile(path).ok();
          std::filesystem::remove(path);
          _exit(written ? 130 : 1);
        },
        ::testing::ExitedWithCode(130), "");
  }
}

// What the real reader says.
class GoPprofTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("go tool pprof -help >/dev/null 2>&1") != 0) GTEST_SKIP() << "no go here";
    std::string path = ::testing::TempDir() + "/go_pprof_test_XXXXXX";
    directory_ = mkdtemp(path.data());
  }
  void TearDown() override {
    if (!directory_.empty()) std::filesystem::remove_all(directory_);
  }
  static std::string Output(const std::string& command) {
    std::string output;
    FILE* pipe = popen((command + " 2>&1").c_str(), "r");
    char buffer[4096];
    while (const size_t got = fread(buffer, 1, sizeof(buffer), pipe)) output.append(buffer, got);
    EXPECT_EQ(pclose(pipe), 0) << output;
    return output;
  }
  std::string directory_;
};

TEST_F(GoPprofTest, ReadsCpuAndHeapProfiles) {
  const bool heap = Profiler::HeapProfilingAvailable();
  const auto profiler = StartOrDie({.cpu = true, .heap = heap, .heap_sample_bytes = 64 * 1024});
  ASSERT_NE(profiler, nullptr);
  {
    ScopedLabel phase(LabelKey::kPhase, InternLabel("deliver_tx"));
    ScopedHeight height(1234);
    ProfiledWork(400 * kMilli);
    for (int i = 0; i < 10; ++i) ProfiledAllocation(4'000'000);
  }
  profiler->Stop();
  const std::string cpu = directory_ + "/cpu.pb.gz";
  ASSERT_TRUE(
      profiler->Write(ProfileKind::kCpu, {.path = cpu, .comments = {"recording 12ab"}}).ok());
  if (kSignalsArriveAtOnce) {
    EXPECT_THAT(Output("go tool pprof -top -cum " + cpu), HasSubstr("ProfiledWork"));
    const std::string tags = Output("go tool pprof -tags " + cpu);
    EXPECT_THAT(tags, HasSubstr("deliver_tx"));
    EXPECT_THAT(tags, HasSubstr("thread_role"));
    EXPECT_THAT(tags, HasSubstr("1200"));
  }
  const std::string raw = Output("go tool pprof -raw " + cpu);
  EXPECT_THAT(raw, HasSubstr("recording 12ab"));
  EXPECT_THAT(raw, HasSubstr("samples/count cpu/nanoseconds[dflt]"));
  EXPECT_THAT(raw, HasSubstr("profiler_test.cc"));
  if (!heap) return;
  const std::string path = directory_ + "/heap.pb.gz";
  ASSERT_TRUE(profiler->Write(ProfileKind::kHeap, {.path = path}).ok());
  EXPECT_THAT(Output("go tool pprof -sample_index=alloc_space -top -cum " + path),
              HasSubstr("ProfiledAllocation"));
  EXPECT_THAT(Output("go tool pprof -sample_index=alloc_space -tags " + path),
              HasSubstr("deliver_tx"));
}

}  // namespace
}  // namespace blockreplay::profiling
