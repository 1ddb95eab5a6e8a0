#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace blockreplay::replay {

// One question to a CometBFT RPC server. Answers are kept as files of its name,
// `<method>-<height>.json` or `<method>-<height>-<page>.json` for pages after the first, and
// `status.json`.
struct RpcQuestion {
  std::string_view method;  // block, block_results, commit, validators, status
  int64_t height = 0;       // 0: the method has none
  int page = 1;             // of validators, 100 a page

  std::string FileName() const;
  // Below a server's address.
  std::string PathAndQuery() const;
};

// Where answers come from. Not thread-safe.
class RpcSource {
 public:
  virtual ~RpcSource() = default;

  // The answer as it came. kNotFound where there is none; a server's refusal is an answer.
  virtual absl::StatusOr<std::string> Get(const RpcQuestion& question) = 0;
  // What stands for the answer in messages: a path or an address.
  virtual std::string NameOf(const RpcQuestion& question) const = 0;
};

// Answers in files of a folder.
std::unique_ptr<RpcSource> OpenRpcFolder(std::string dir);

struct RpcServerOptions {
  // Folder in which answers are kept, and looked for before the server is asked: a long download
  // can go on where it stopped. Empty: none.
  std::string cache_dir;
  // How often a question is asked before its failure is an error; the pause doubles each time.
  int attempts = 8;
  int64_t first_pause_ms = 250;
  int64_t timeout_ms = 30'000;
  // Asked while waiting; true ends it with kCancelled.
  std::function<bool()> interrupted;
};

// A server, `http://host:port`, `https://…` or `tcp://…` (which is http), with a path if it has
// one. What a server may do wrong for a while is tried again: no connection, a status 429 or 5xx,
// an answer that ends early or is no JSON object. kInvalidArgument for another address.
absl::StatusOr<std::unique_ptr<RpcSource>> OpenRpcServer(const std::string& address,
                                                         RpcServerOptions options);

}  // namespace blockreplay::replay
