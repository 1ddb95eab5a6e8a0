#include "profiling/pprof_server.h"

#include <httplib.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "profiling/heap_growth.h"
#include "profiling/labels.h"
#include "profiling/profile_file.h"
#include "profiling/profile_merge.h"
#include "profiling/profile_view.h"
#include "profiling/symbolizer.h"

namespace blockreplay::profiling {
namespace {

using perftools::profiles::Profile;

constexpr int kDefaultSeconds = 30;
constexpr int kMaxSeconds = 24 * 3600;
constexpr size_t kThreads = 4;
constexpr size_t kMaxSymbols = 1000;

constexpr char kIndex[] = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>blockreplay profiles</title>
<style>
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 48rem; margin: 2rem auto; padding: 0 1rem; }
td { padding: .25rem 1rem .25rem 0; vertical-align: top; }
code { font-family: ui-monospace, monospace; }
</style></head><body>
<h1>Profiles of this replay</h1>
<table>
<tr><td><a href="profile?seconds=10">profile</a></td><td>CPU from now on, for <code>seconds</code> (30)</td></tr>
<tr><td><a href="heap">heap</a> · <a href="heap?debug=1">text</a></td><td>memory in use; <code>seconds=N</code>: what changed in that time</td></tr>
<tr><td><a href="allocs">allocs</a> · <a href="allocs?debug=1">text</a></td><td>all allocations; <code>seconds=N</code> as well</td></tr>
<tr><td><a href="growth">growth</a> · <a href="growth?debug=1">text</a></td><td>where the heap grew</td></tr>
<tr><td><a href="cmdline">cmdline</a></td><td>command line</td></tr>
<tr><td><a href="symbol">symbol</a></td><td>names of addresses: <code>symbol?0x1234+0x5678</code></td></tr>
</table>
<p><code>go tool pprof -http=: http://HOST:PORT/debug/pprof/profile?seconds=10</code></p>
</body></html>
)";

int HttpStatusOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
      return 400;
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kFailedPrecondition:
      return 409;
    case absl::StatusCode::kUnimplemented:
      return 501;
    case absl::StatusCode::kUnavailable:
      return 503;
    default:
      return 500;
  }
}

void SetError(const absl::Status& status, httplib::Response* response) {
  response->status = HttpStatusOf(status);
  response->set_content(absl::StrCat(status.message(), "\n"), "text/plain; charset=utf-8");
}

// The time that a request is about; nothing if it names none.
absl::StatusOr<std::optional<int>> SecondsOf(const httplib::Request& request) {
  if (!request.has_param("seconds")) return std::nullopt;
  int seconds = 0;
  if (!absl::SimpleAtoi(request.get_param_value("seconds"), &seconds) || seconds < 1 ||
      seconds > kMaxSeconds) {
    return absl::InvalidArgumentError(
        absl::StrCat("seconds must be a number from 1 to ", kMaxSeconds));
  }
  return seconds;
}

bool WantsText(const httplib::Request& request) {
  int level = 0;
  return absl::SimpleAtoi(request.get_param_value("debug"), &level) && level > 0;
}

// pprof asks (by POST, which is not allowed) for the names in files that the profile has none of.
// There are none that this process could add.
void SayNothingIsMissing(Profile* profile) {
  for (auto& mapping : *profile->mutable_mapping()) mapping.set_has_functions(true);
}

void SetDefaultType(Profile* profile, std::string_view name) {
  for (const auto& type : profile->sample_type()) {
    if (profile->string_table(static_cast<int>(type.type())) == name) {
      profile->set_default_sample_type(type.type());
    }
  }
}

// A table to read in a browser or a terminal.
absl::StatusOr<std::string> TextOf(const Profile& profile) {
  constexpr size_t kRows = 50;
  absl::StatusOr<ProfileView> view = ProfileView::Create(profile);
  if (!view.ok()) return view.status();
  std::string text;
  for (const int64_t comment : profile.comment()) {
    absl::StrAppend(&text, "# ", profile.string_table(static_cast<int>(comment)), "\n");
  }
  absl::StatusOr<size_t> type = view->TypeNamed("");
  if (!type.ok()) return type.status();
  for (const ProfileView::ValueType& each : view->types()) {
    const size_t index = static_cast<size_t>(&each - view->types().data());
    absl::StrAppend(&text, each.type, ": ", FormatValue(Total(*view, index), each.unit), "\n");
  }
  const std::string& unit = view->types()[*type].unit;
  const auto append = [&](const std::string& title, const std::vector<ProfileRow>& rows) {
    absl::StrAppend(&text, "\n", view->types()[*type].type, " by ", title, "\n");
    for (size_t i = 0; i < std::min(rows.size(), kRows); ++i) {
      absl::StrAppendFormat(&text, "%12s %12s  %s\n", FormatValue(rows[i].flat, unit),
                            FormatValue(rows[i].cumulative, unit), rows[i].name);
    }
  };
  for (const std::string& key : view->LabelKeys()) append(key, SumByLabels(*view, *type, {key}));
  append("function (itself, with what it called)", SumByFunction(*view, *type));
  return text;
}

// What happened between two profiles of everything since the start.
absl::StatusOr<Profile> Difference(Profile before, const Profile& after) {
  for (auto& sample : *before.mutable_sample()) {
    for (auto& value : *sample.mutable_value()) value = -value;
  }
  const int64_t start = before.time_nanos() + before.duration_nanos();
  const int64_t duration = after.duration_nanos() - before.duration_nanos();
  absl::StatusOr<Profile> difference =
      MergeProfiles(std::vector<Profile>{std::move(before), after});
  if (!difference.ok()) return difference;
  difference->set_time_nanos(start);
  difference->set_duration_nanos(duration);
  return difference;
}

std::string CommandLine() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string line{std::istreambuf_iterator<char>(file), {}};
  while (!line.empty() && line.back() == '\0') line.pop_back();
  return line;
}

// "0x1234+0x5678": names of addresses of this process, as pprof asks for them.
absl::StatusOr<std::string> Symbols(const httplib::Request& request) {
  const size_t question = request.target.find('?');
  // A client may have encoded the plus signs.
  const std::string query =
      question == std::string::npos
          ? std::string()
          : httplib::detail::decode_url(request.target.substr(question + 1), false);
  absl::StatusOr<std::unique_ptr<Symbolizer>> symbolizer = Symbolizer::ForThisProcess();
  if (!symbolizer.ok()) return symbolizer.status();
  std::string text = "num_symbols: 1\n";
  size_t symbols = 0;
  for (const absl::string_view part : absl::StrSplit(query, '+', absl::SkipEmpty())) {
    uint64_t address = 0;
    if (!absl::SimpleHexAtoi(part, &address)) continue;
    if (++symbols > kMaxSymbols) break;
    const std::vector<CodeFrame> frames = (*symbolizer)->Lookup(address);
    if (frames.empty()) continue;
    absl::StrAppendFormat(&text, "%#x\t%s\n", address, frames.back().name);
  }
  return text;
}

class HttplibServer final : public PprofServer {
 public:
  explicit HttplibServer(const Options& options) : options_(options) {}

  ~HttplibServer() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    stop_condition_.notify_all();
    server_.stop();
    if (thread_.joinable()) thread_.join();
  }

  absl::Status Begin() {
    if (absl::Status status = Bind(); !status.ok()) return status;
    if (!options_.heap_from_profiler && Profiler::HeapProfilingAvailable()) {
      ProfilerOptions heap;
      heap.heap = true;
      absl::StatusOr<std::unique_ptr<Profiler>> profiler = Profiler::Start(heap);
      if (!profiler.ok()) return profiler.status();
      heap_profiler_ = *std::move(profiler);
    }
    SetRoutes();
    thread_ = std::thread([this] {
      SetThreadRole("http");
      server_.listen_after_bind();
      ended_ = true;
    });
    // Before it runs it could not be stopped.
    while (!server_.is_running() && !ended_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return absl::OkStatus();
  }

  void UseProfiler(std::shared_ptr<Profiler> profiler) override {
    const std::lock_guard lock(mutex_);
    profiler_ = std::move(profiler);
  }

  std::string url() const override {
    const std::string& host = options_.address.host;
    const bool bare_ipv6 = host.find(':') != std::string::npos;
    return absl::StrCat("http://", bare_ipv6 ? "[" : "", host, bare_ipv6 ? "]" : "", ":", port_,
                        "/debug/pprof/");
  }

 private:
  absl::Status Bind() {
    // The library's own choice, SO_REUSEPORT, would let two runs share a port.
    server_.set_socket_options([](socket_t socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    });
    const ListenAddress& address = options_.address;
    errno = 0;
    if (address.port == 0) {
      port_ = server_.bind_to_any_port(address.host);
    } else {
      port_ = server_.bind_to_port(address.host, address.port) ? address.port : -1;
    }
    if (port_ > 0) return absl::OkStatus();
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ", address.host, ":", address.port, errno == 0 ? "" : ": ",
                     errno == 0 ? "" : std::strerror(errno), "; give another address or port"));
  }

  void SetRoutes() {
    server_.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
    // So that stopping waits for no idle connection.
    server_.set_keep_alive_max_count(1);
    server_.set_read_timeout(std::chrono::seconds(5));
    server_.set_write_timeout(std::chrono::seconds(5));
    server_.set_payload_max_length(size_t{1} << 16);
    server_.set_default_headers({{"X-Content-Type-Options", "nosniff"}});
    server_.set_exception_handler(
        [](const httplib::Request&, httplib::Response& response, const std::exception_ptr&) {
          SetError(absl::InternalError("the request could not be answered"), &response);
        });
    server_.set_pre_routing_handler(
        [](const httplib::Request& request, httplib::Response& response) {
          static const LabelId kHttp = InternLabel("http");
          static thread_local const ScopedLabel role(LabelKey::kThreadRole, kHttp);
          if (request.method == "GET") return httplib::Server::HandlerResponse::Unhandled;
          response.status = 405;
          response.set_header("Allow", "GET");
          response.set_content("only GET is allowed\n", "text/plain; charset=utf-8");
          return httplib::Server::HandlerResponse::Handled;
        });
    server_.Get("/debug/pprof/", [](const httplib::Request&, httplib::Response& response) {
      response.set_content(kIndex, "text/html; charset=utf-8");
    });
    for (const char* path : {"/", "/debug/pprof"}) {
      server_.Get(path, [](const httplib::Request&, httplib::Response& response) {
        response.set_redirect("/debug/pprof/", 302);
      });
    }
    Serve("profile", [this](const httplib::Request& request) { return CpuProfile(request); });
    Serve("heap", [this](const httplib::Request& request) { return Heap(request, "inuse_space"); });
    Serve("allocs",
          [this](const httplib::Request& request) { return Heap(request, "alloc_space"); });
    Serve("growth", [this](const httplib::Request& request) { return Growth(request); });
    server_.Get("/debug/pprof/cmdline", [](const httplib::Request&, httplib::Response& response) {
      response.set_content(CommandLine(), "text/plain; charset=utf-8");
    });
    server_.Get("/debug/pprof/symbol",
                [](const httplib::Request& request, httplib::Response& response) {
                  const absl::StatusOr<std::string> text = Symbols(request);
                  if (!text.ok()) return SetError(text.status(), &response);
                  response.set_content(*text, "text/plain; charset=utf-8");
                });
  }

  template <typename Handler>
  void Serve(const std::string& name, Handler handler) {
    server_.Get("/debug/pprof/" + name, [this, name, handler](const httplib::Request& request,
                                                              httplib::Response& response) {
      absl::StatusOr<Profile> profile = handler(request);
      if (!profile.ok()) return SetError(profile.status(), &response);
      SayNothingIsMissing(&*profile);
      Answer(name, request, *profile, &response);
    });
  }

  void Answer(const std::string& name, const httplib::Request& request, const Profile& profile,
              httplib::Response* response) const {
    if (WantsText(request)) {
      const absl::StatusOr<std::string> text = TextOf(profile);
      if (!text.ok()) return SetError(text.status(), response);
      return response->set_content(*text, "text/plain; charset=utf-8");
    }
    const absl::StatusOr<std::string> bytes = EncodeProfile(profile);
    if (!bytes.ok()) return SetError(bytes.status(), response);
    response->set_header("Content-Disposition",
                         absl::StrCat("attachment; filename=\"", name, ".pb.gz\""));
    response->set_content(*bytes, "application/octet-stream");
  }

  absl::StatusOr<std::shared_ptr<Profiler>> SharedProfiler() {
    const std::lock_guard lock(mutex_);
    if (profiler_ == nullptr) {
      return absl::UnavailableError(
          "this run profiles the blocks it measures, and has not come to them yet: try again");
    }
    return profiler_;
  }

  // Returns early when the server stops: then what there is until now is the answer.
  void Wait(int seconds) {
    std::unique_lock lock(mutex_);
    stop_condition_.wait_for(lock, std::chrono::seconds(seconds), [this] { return stopping_; });
  }

  absl::StatusOr<Profile> CpuProfile(const httplib::Request& request) {
    const absl::StatusOr<std::optional<int>> seconds = SecondsOf(request);
    if (!seconds.ok()) return seconds.status();
    if (cpu_busy_.exchange(true)) {
      return absl::AlreadyExistsError("a CPU profile is being taken already: one at a time");
    }
    const absl::Cleanup done = [this] { cpu_busy_ = false; };
    ProfileRequest profile;
    profile.comments = options_.comments;
    if (options_.cpu_from_profiler) {
      const absl::StatusOr<std::shared_ptr<Profiler>> profiler = SharedProfiler();
      if (!profiler.ok()) return profiler.status();
      const ProfileMark start = (*profiler)->TakeMark();
      Wait(seconds->value_or(kDefaultSeconds));
      const ProfileMark end = (*profiler)->TakeMark();
      profile.since = &start;
      profile.until = &end;
      return (*profiler)->Collect(ProfileKind::kCpu, profile);
    }
    ProfilerOptions cpu;
    cpu.cpu = true;
    const absl::StatusOr<std::unique_ptr<Profiler>> profiler = Profiler::Start(cpu);
    if (!profiler.ok()) return profiler.status();
    Wait(seconds->value_or(kDefaultSeconds));
    (*profiler)->Stop();
    return (*profiler)->Collect(ProfileKind::kCpu, profile);
  }

  absl::StatusOr<Profile> Heap(const httplib::Request& request, std::string_view default_type) {
    const absl::StatusOr<std::optional<int>> seconds = SecondsOf(request);
    if (!seconds.ok()) return seconds.status();
    if (!Profiler::HeapProfilingAvailable()) {
      return absl::UnimplementedError("this program runs without tcmalloc: no heap profiles");
    }
    std::shared_ptr<Profiler> profiler = heap_profiler_;
    if (options_.heap_from_profiler) {
      absl::StatusOr<std::shared_ptr<Profiler>> shared = SharedProfiler();
      if (!shared.ok()) return shared.status();
      profiler = *std::move(shared);
    }
    ProfileRequest whole;
    whole.comments = options_.comments;
    absl::StatusOr<Profile> profile = profiler->Collect(ProfileKind::kHeap, whole);
    if (profile.ok() && *seconds) {
      Wait(**seconds);
      absl::StatusOr<Profile> after = profiler->Collect(ProfileKind::kHeap, whole);
      if (!after.ok()) return after.status();
      profile = Difference(*std::move(profile), *after);
    }
    if (profile.ok()) SetDefaultType(&*profile, default_type);
    return profile;
  }

  absl::StatusOr<Profile> Growth(const httplib::Request& request) {
    if (request.has_param("seconds")) {
      return absl::InvalidArgumentError("growth is since the start only: it takes no seconds");
    }
    absl::StatusOr<Profile> profile = HeapGrowthProfile();
    if (!profile.ok() && absl::IsUnavailable(profile.status())) {
      return absl::UnimplementedError(profile.status().message());
    }
    return profile;
  }

  const Options options_;
  int port_ = -1;
  std::shared_ptr<Profiler> heap_profiler_;
  std::atomic<bool> cpu_busy_{false};
  std::mutex mutex_;
  std::condition_variable stop_condition_;
  bool stopping_ = false;
  std::shared_ptr<Profiler> profiler_;
  std::atomic<bool> ended_{false};
  httplib::Server server_;
  std::thread thread_;
};

}  // namespace

absl::StatusOr<ListenAddress> ParseListenAddress(std::string_view text) {
  const size_t colon = text.rfind(':');
  ListenAddress address;
  address.host = colon == std::string_view::npos ? "" : std::string(text.substr(0, colon));
  const std::string port(colon == std::string_view::npos ? text : text.substr(colon + 1));
  if (address.host.starts_with('[') && address.host.ends_with(']')) {
    address.host = address.host.substr(1, address.host.size() - 2);
  } else if (address.host.find(':') != std::string::npos) {
    address.host.clear();
    address.port = -1;
  }
  const bool digits = !port.empty() && port.find_first_not_of("0123456789") == std::string::npos;
  if (address.port != 0 || !digits || !absl::SimpleAtoi(port, &address.port) ||
      address.port > 65535) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", std::string(text),
                     "\" is no address to listen on: use HOST:PORT, [IPv6]:PORT or :PORT"));
  }
  if (address.host.empty()) address.host = "127.0.0.1";
  return address;
}

absl::StatusOr<std::unique_ptr<PprofServer>> PprofServer::Start(const Options& options) {
  auto server = std::make_unique<HttplibServer>(options);
  if (absl::Status status = server->Begin(); !status.ok()) return status;
  return server;
}

}  // namespace blockreplay::profiling
