#include "replay/import/rpc_source.h"

#include <httplib.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "replay/recording/file_io.h"

namespace blockreplay::replay {
namespace {

// Of one answer. A block has at most 100 MB, in base64 a third more, its results more than that.
constexpr size_t kMaxAnswer = size_t{512} << 20;
constexpr int kPerPage = 100;
constexpr std::chrono::milliseconds kLongestPause(8'000);
constexpr std::chrono::milliseconds kInterruptCheck(50);

class RpcFolder final : public RpcSource {
 public:
  explicit RpcFolder(std::string dir) : dir_(std::move(dir)) {}

  absl::StatusOr<std::string> Get(const RpcQuestion& question) override {
    return ReadFile(NameOf(question), kMaxAnswer);
  }
  std::string NameOf(const RpcQuestion& question) const override {
    return absl::StrCat(dir_, "/", question.FileName());
  }

 private:
  const std::string dir_;
};

// A refusal is not kept: asked later, the server may have the answer. The envelope says it early.
bool IsRefusal(std::string_view body) {
  constexpr size_t kEnvelope = 100;
  return body.substr(0, kEnvelope).find("\"error\"") != std::string_view::npos;
}

// Whether it can be the whole of a JSON object; whether it is one, the parser says.
bool LooksWhole(std::string_view body) {
  const size_t first = body.find_first_not_of(" \t\r\n");
  const size_t last = body.find_last_not_of(" \t\r\n");
  return first != std::string_view::npos && body[first] == '{' && body[last] == '}';
}

class RpcServer final : public RpcSource {
 public:
  RpcServer(std::string address, const std::string& scheme_and_host, std::string path,
            RpcServerOptions options)
      : address_(std::move(address)),
        path_(std::move(path)),
        options_(std::move(options)),
        cache_(options_.cache_dir),
        client_(scheme_and_host) {
    const auto timeout = std::chrono::milliseconds(options_.timeout_ms);
    client_.set_connection_timeout(timeout);
    client_.set_read_timeout(timeout);
    client_.set_keep_alive(true);
    client_.set_follow_location(true);
  }

  absl::StatusOr<std::string> Get(const RpcQuestion& question) override {
    if (!options_.cache_dir.empty()) {
      absl::StatusOr<std::string> kept = cache_.Get(question);
      if (kept.ok() || kept.status().code() != absl::StatusCode::kNotFound) return kept;
    }
    std::chrono::milliseconds pause(options_.first_pause_ms);
    for (int attempt = 1;; ++attempt) {
      std::string problem;
      bool passing = true;
      std::string body;
      if (Ask(question, &body, &problem, &passing)) {
        if (options_.cache_dir.empty() || IsRefusal(body)) return body;
        if (absl::Status status = WriteFileAtomically(cache_.NameOf(question), body);
            !status.ok()) {
          return status;
        }
        return body;
      }
      if (Interrupted()) return absl::CancelledError("interrupted");
      if (!passing || attempt >= options_.attempts) {
        return absl::UnavailableError(absl::StrCat(
            NameOf(question), ": ", problem, passing ? absl::StrCat(" (", attempt, " times)") : "",
            ": is that the address of a CometBFT RPC server?"));
      }
      for (auto waited = std::chrono::milliseconds(0); waited < pause && !Interrupted();
           waited += kInterruptCheck) {
        std::this_thread::sleep_for(std::min(kInterruptCheck, pause - waited));
      }
      pause = std::min(2 * pause, kLongestPause);
    }
  }

  std::string NameOf(const RpcQuestion& question) const override {
    return absl::StrCat(address_, question.PathAndQuery());
  }

 private:
  bool Interrupted() const { return options_.interrupted && options_.interrupted(); }

  // One attempt. False with the problem, and whether it may pass.
  bool Ask(const RpcQuestion& question, std::string* body, std::string* problem, bool* passing) {
    bool too_large = false;
    const httplib::Result result =
        client_.Get((path_ + question.PathAndQuery()).c_str(), [&](const char* data, size_t size) {
          too_large = body->size() + size > kMaxAnswer;
          if (too_large || Interrupted()) return false;
          body->append(data, size);
          return true;
        });
    if (too_large) {
      *problem = absl::StrCat("the answer is longer than ", kMaxAnswer, " bytes");
      *passing = false;
      return false;
    }
    if (!result) {
      *problem = absl::StrCat("no answer (", httplib::to_string(result.error()), ")");
      return false;
    }
    // CometBFT answers refusals with status 500 and a JSON-RPC error.
    const bool whole = LooksWhole(*body);
    if (result->status == 200 || (result->status == 500 && whole)) {
      if (!whole) *problem = "the answer ends early or is no JSON";
      return whole;
    }
    *problem = absl::StrCat("the server answers with status ", result->status);
    *passing = result->status == 429 || result->status >= 500;
    return false;
  }

  const std::string address_;
  const std::string path_;
  const RpcServerOptions options_;
  RpcFolder cache_;
  httplib::Client client_;
};

}  // namespace

std::string RpcQuestion::FileName() const {
  std::string name(method);
  if (height > 0) absl::StrAppend(&name, "-", height);
  if (page > 1) absl::StrAppend(&name, "-", page);
  return absl::StrCat(name, ".json");
}

std::string RpcQuestion::PathAndQuery() const {
  std::string path = absl::StrCat("/", std::string(method));
  if (height > 0) absl::StrAppend(&path, "?height=", height);
  if (method == "validators") absl::StrAppend(&path, "&page=", page, "&per_page=", kPerPage);
  return path;
}

std::unique_ptr<RpcSource> OpenRpcFolder(std::string dir) {
  return std::make_unique<RpcFolder>(std::move(dir));
}

absl::StatusOr<std::unique_ptr<RpcSource>> OpenRpcServer(const std::string& address,
                                                         RpcServerOptions options) {
  const size_t scheme_end = address.find("://");
  const std::string scheme =
      scheme_end == std::string::npos ? std::string() : address.substr(0, scheme_end);
  if (scheme != "http" && scheme != "https" && scheme != "tcp") {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", address, "\" is no address of an RPC server: give http://host:port or https://host"));
  }
  const size_t host = scheme_end + 3;
  const size_t host_end = std::min(address.find('/', host), address.size());
  if (host_end == host) {
    return absl::InvalidArgumentError(absl::StrCat("\"", address, "\" names no host"));
  }
  const std::string path(absl::StripSuffix(address.substr(host_end), "/"));
  if (!options.cache_dir.empty()) {
    std::error_code error;
    std::filesystem::create_directories(options.cache_dir, error);
    if (error) return ErrnoStatus(error.value(), "create folder", options.cache_dir);
  }
  const std::string scheme_and_host = absl::StrCat(scheme == "https" ? "https://" : "http://",
                                                   address.substr(host, host_end - host));
  return std::make_unique<RpcServer>(scheme_and_host + path, scheme_and_host, path,
                                     std::move(options));
}

}  // namespace blockreplay::replay
