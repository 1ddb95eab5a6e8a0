#include "profiling/pprof_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "profiling/profile_file.h"
#include "profiling/test_util.h"

namespace blockreplay::profiling {
namespace {

using perftools::profiles::Profile;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

TEST(ListenAddressTest, WithoutAHostIsThisMachineOnly) {
  for (const char* text : {":6060", "6060"}) {
    const auto address = ParseListenAddress(text);
    ASSERT_TRUE(address.ok()) << address.status();
    EXPECT_EQ(address->host, "127.0.0.1");
    EXPECT_EQ(address->port, 6060);
  }
  EXPECT_EQ(ParseListenAddress("0.0.0.0:1")->host, "0.0.0.0");
  EXPECT_EQ(ParseListenAddress("[::1]:8080")->host, "::1");
  EXPECT_EQ(ParseListenAddress("localhost:0")->port, 0);
}

TEST(ListenAddressTest, RefusesEverythingElse) {
  for (const char* text : {"", ":", "host:", "host", ":port", ":65536", ":-1", "::1:80", ":+80",
                           ":80 ", ":99999999999", "[::1]"}) {
    EXPECT_FALSE(ParseListenAddress(text).ok()) << text;
  }
}

// Allocates and computes until told to stop, so that profiles have something to show.
class Worker {
 public:
  Worker()
      : thread_([this] {
          while (!stop_) {
            UseCpu(1'000'000);
            kept_.push_back(std::make_unique<std::string>(100'000, 'x'));
            if (kept_.size() > 200) kept_.clear();
          }
        }) {}
  ~Worker() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::vector<std::unique_ptr<std::string>> kept_;
  std::thread thread_;
};

class PprofServerTest : public ::testing::Test {
 protected:
  void Start(PprofServer::Options options = {}) {
    options.address = {"127.0.0.1", 0};
    options.comments = {"recording 12ab"};
    auto server = PprofServer::Start(options);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    ASSERT_THAT(server_->url(), MatchesRegex("http://127.0.0.1:[0-9]+/debug/pprof/"));
    const std::string port = server_->url().substr(sizeof("http://127.0.0.1:") - 1);
    ASSERT_TRUE(absl::SimpleAtoi(port.substr(0, port.find('/')), &port_));
  }

  httplib::Response Get(const std::string& path) const {
    httplib::Client client("127.0.0.1", port_);
    client.set_read_timeout(120);
    auto result = client.Get("/debug/pprof/" + path);
    EXPECT_TRUE(result) << path << ": " << httplib::to_string(result.error());
    return result ? *result : httplib::Response();
  }

  Profile GetProfile(const std::string& path) const {
    const httplib::Response response = Get(path);
    EXPECT_EQ(response.status, 200) << response.body;
    EXPECT_THAT(response.body, StartsWith("\x1f\x8b"));
    const auto profile = DecodeProfile(response.body);
    EXPECT_TRUE(profile.ok()) << profile.status();
    if (!profile.ok()) return {};
    // Or pprof would ask for more, by POST.
    for (const auto& mapping : profile->mapping()) EXPECT_TRUE(mapping.has_functions());
    return *profile;
  }

  std::unique_ptr<PprofServer> server_;
  int port_ = 0;
};

TEST_F(PprofServerTest, IndexNamesEverything) {
  Start();
  const httplib::Response index = Get("");
  EXPECT_EQ(index.status, 200);
  for (const char* name : {"profile", "heap", "allocs", "growth", "cmdline", "symbol"}) {
    EXPECT_THAT(index.body, HasSubstr(absl::StrFormat("href=\"%s", name)));
  }
  EXPECT_EQ(Get("nothing").status, 404);
}

TEST_F(PprofServerTest, AllowsGetOnly) {
  Start();
  httplib::Client client("127.0.0.1", port_);
  for (const char* path : {"/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/symbol", "/x"}) {
    const auto post = client.Post(path, "0x1", "text/plain");
    ASSERT_TRUE(post);
    EXPECT_EQ(post->status, 405);
    EXPECT_EQ(post->get_header_value("Allow"), "GET");
    const auto remove = client.Delete(path);
    ASSERT_TRUE(remove);
    EXPECT_EQ(remove->status, 405);
    const auto head = client.Head(path);
    ASSERT_TRUE(head);
    EXPECT_EQ(head->status, 405);
  }
}

TEST_F(PprofServerTest, CpuProfilesOneAtATime) {
  Start();
  const Worker worker;
  std::atomic<bool> first_done{false};
  std::thread first([&] {
    httplib::Response response;
    // The other one may have come first.
    do {
      response = Get("profile?seconds=2");
    } while (response.status == 409);
    first_done = true;
    const auto profile = DecodeProfile(response.body);
    ASSERT_TRUE(profile.ok()) << profile.status();
    EXPECT_EQ(StringOf(*profile, profile->comment(0)), "recording 12ab");
    EXPECT_GT(SumUnder(*profile, "UseCpu", 1), 0);
  });
  // As soon as the first is being taken, every other one is refused.
  bool refused = false;
  while (!refused && !first_done) refused = Get("profile?seconds=1").status == 409;
  EXPECT_TRUE(refused);
  first.join();
  EXPECT_EQ(Get("profile?seconds=1&debug=1").status, 200);
}

TEST_F(PprofServerTest, RefusesTimesThatAreNone) {
  Start();
  for (const char* path : {"profile?seconds=0", "profile?seconds=x", "profile?seconds=1e9",
                           "heap?seconds=-1", "growth?seconds=1"}) {
    EXPECT_EQ(Get(path).status, 400) << path;
  }
}

TEST_F(PprofServerTest, HeapAllocsAndWhatChanged) {
  Start();
  if (!Profiler::HeapProfilingAvailable()) {
    EXPECT_EQ(Get("heap").status, 501);
    return;
  }
  const Worker worker;
  const Profile change = GetProfile("heap?seconds=1");
  EXPECT_GT(SumUnder(change, "Worker", 1), 0);
  const Profile heap = GetProfile("heap");
  EXPECT_EQ(StringOf(heap, heap.default_sample_type()), "inuse_space");
  const Profile allocs = GetProfile("allocs");
  EXPECT_EQ(StringOf(allocs, allocs.default_sample_type()), "alloc_space");
  // What came before and after that second is not in it.
  EXPECT_LT(Sum(change, 1), Sum(allocs, 1));
  const httplib::Response text = Get("allocs?debug=1");
  EXPECT_THAT(text.get_header_value("Content-Type"), HasSubstr("text/plain"));
  EXPECT_THAT(text.body, HasSubstr("alloc_space: "));
  EXPECT_THAT(text.body, HasSubstr("alloc_space by function"));
  EXPECT_THAT(text.body, HasSubstr("# recording 12ab"));
}

TEST_F(PprofServerTest, GrowthOfTheHeap) {
  Start();
  if (!Profiler::HeapProfilingAvailable()) {
    EXPECT_EQ(Get("growth").status, 501);
    return;
  }
  // More than the heap can have lying about.
  const auto large = std::make_unique<std::vector<char>>(64 << 20, 'x');
  EXPECT_GE(Sum(GetProfile("growth"), 1), 64 << 20);
}

TEST_F(PprofServerTest, CommandLineAndSymbols) {
  Start();
  EXPECT_THAT(Get("cmdline").body, HasSubstr("pprof_server_test"));
  EXPECT_EQ(Get("symbol").body, "num_symbols: 1\n");
  const auto address = reinterpret_cast<uintptr_t>(&CheckProfile);
  const std::string body = Get(absl::StrFormat("symbol?%#x+0x10+nonsense", address)).body;
  EXPECT_THAT(body, StartsWith("num_symbols: 1\n" + absl::StrFormat("%#x\t", address)));
  EXPECT_THAT(body, HasSubstr("CheckProfile"));
}

TEST_F(PprofServerTest, TakesTheRunsProfiler) {
  PprofServer::Options options;
  options.cpu_from_profiler = true;
  options.heap_from_profiler = Profiler::HeapProfilingAvailable();
  Start(options);
  EXPECT_EQ(Get("profile?seconds=1").status, 503);
  ProfilerOptions cpu;
  cpu.cpu = true;
  cpu.heap = options.heap_from_profiler;
  std::shared_ptr<Profiler> profiler = *Profiler::Start(cpu);
  server_->UseProfiler(profiler);
  UseCpu(300'000'000);
  const Worker worker;
  const Profile profile = GetProfile("profile?seconds=1");
  EXPECT_GT(SumUnder(profile, "Worker", 1), 0);
  // What was before the request is not in it.
  EXPECT_EQ(SumUnder(profile, "TakesTheRunsProfiler", 1), 0);
  if (options.heap_from_profiler) GetProfile("heap");
}

TEST_F(PprofServerTest, APortCanBeHadOnce) {
  Start();
  PprofServer::Options options;
  options.address = {"127.0.0.1", port_};
  const auto second = PprofServer::Start(options);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(second.status().message()),
              HasSubstr(absl::StrFormat("cannot listen on 127.0.0.1:%d", port_)));
}

TEST_F(PprofServerTest, StoppingAnswersWhoIsWaiting) {
  Start();
  httplib::Result result(nullptr, httplib::Error::Unknown);
  std::thread client_thread([&] {
    httplib::Client client("127.0.0.1", port_);
    client.set_read_timeout(3600);
    do {
      result = client.Get("/debug/pprof/profile?seconds=3600");
    } while (result && result->status == 409);
  });
  while (Get("profile?seconds=1").status != 409) std::this_thread::yield();
  server_.reset();
  client_thread.join();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, 200);
  EXPECT_TRUE(DecodeProfile(result->body).ok());
}

}  // namespace
}  // namespace blockreplay::profiling
