#include "replay/import/rpc_source.h"

#include <httplib.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "replay/import/rpc_blocks.h"
#include "replay/recording/test_recording.h"

namespace blockreplay::replay {
namespace {

using ::testing::HasSubstr;

// A server whose behaviour the test chooses; gives the answers of a real one otherwise.
class RpcSourceTest : public ::testing::Test {
 protected:
  using Trouble = std::function<bool(const httplib::Request&, httplib::Response*)>;

  RpcSourceTest() {
    server_.Get("/rpc/(block|block_results|commit|validators|status)", [this](
                                                                           const httplib::Request&
                                                                               request,
                                                                           httplib::Response&
                                                                               response) {
      ++asked_;
      if (trouble_ && trouble_(request, &response)) return;
      std::string name = request.matches[1];
      if (request.has_param("height")) name += "-" + request.get_param_value("height");
      const std::string path = BLOCKREPLAY_FIXTURES "/import/rpc-0.38/" + name + ".json";
      if (std::filesystem::exists(path)) {
        response.set_content(ReadBytes(path), "application/json");
        return;
      }
      response.status = 500;
      response.set_content(
          R"({"jsonrpc":"2.0","id":-1,"error":{"code":-32603,"message":"Internal error","data":"no such height"}})",
          "application/json");
    });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
    options_.first_pause_ms = 1;
    options_.attempts = 4;
  }
  ~RpcSourceTest() override {
    server_.stop();
    thread_.join();
  }

  std::string Address() const { return "http://127.0.0.1:" + std::to_string(port_) + "/rpc"; }
  absl::StatusOr<std::string> Get(const RpcQuestion& question) {
    return OpenRpcServer(Address(), options_).value()->Get(question);
  }
  std::string ErrorOf(const RpcQuestion& question) {
    return std::string(Get(question).status().message());
  }

  TemporaryDir folder_;
  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
  std::atomic<int> asked_ = 0;
  Trouble trouble_;
  RpcServerOptions options_;
};

TEST_F(RpcSourceTest, GivesTheBlocksOfAServer) {
  auto blocks = RpcBlocks::Open(OpenRpcServer(Address(), options_).value());
  ASSERT_TRUE(blocks.ok()) << blocks.status();
  for (int64_t height = 47; height <= 51; ++height) {
    v1::Block block;
    const absl::Status status = (*blocks)->Read(height, &block);
    ASSERT_TRUE(status.ok()) << status;
  }
  EXPECT_FALSE((*blocks)->HeaderAt(52)->has_value());
  v1::Block block;
  const absl::Status refused = (*blocks)->Read(52, &block);
  EXPECT_THAT(refused.message(),
              HasSubstr("/rpc/block?height=52: the server answers: Internal error "
                        "no such height"));
}

TEST_F(RpcSourceTest, TriesAgainWhatMayPass) {
  const std::string whole = ReadBytes(BLOCKREPLAY_FIXTURES "/import/rpc-0.38/block-47.json");
  for (const int status : {429, 502, 503}) {
    std::atomic<int> failures = 3;
    trouble_ = [&](const httplib::Request&, httplib::Response* response) {
      if (failures-- <= 0) return false;
      response->status = status;
      return true;
    };
    const auto answer = Get({"block", 47});
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(*answer, whole);
  }
  // An answer that ends before the length that it announces, and a page that is no JSON.
  std::atomic<int> failures = 2;
  trouble_ = [&](const httplib::Request&, httplib::Response* response) {
    const int left = failures--;
    if (left <= 0) return false;
    if (left == 1) {
      response->set_content("<html>busy</html>", "text/html");
      return true;
    }
    response->set_content_provider(whole.size(), "application/json",
                                   [&](size_t, size_t, httplib::DataSink& sink) {
                                     sink.write(whole.data(), 100);
                                     return false;
                                   });
    return true;
  };
  const auto answer = Get({"block", 47});
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(*answer, whole);
}

TEST_F(RpcSourceTest, GivesUpInTheEnd) {
  trouble_ = [](const httplib::Request&, httplib::Response* response) {
    response->status = 503;
    return true;
  };
  EXPECT_THAT(ErrorOf({"block", 47}),
              HasSubstr("/rpc/block?height=47: the server answers with status 503 (4 times)"));
  EXPECT_EQ(asked_, 4);
  trouble_ = [](const httplib::Request&, httplib::Response* response) {
    response->status = 404;
    return true;
  };
  asked_ = 0;
  EXPECT_THAT(ErrorOf({"block", 47}), HasSubstr("status 404: is that the address"));
  EXPECT_EQ(asked_, 1);
  const auto nobody = OpenRpcServer("http://127.0.0.1:1", options_).value()->Get({"status"});
  EXPECT_THAT(nobody.status().message(), HasSubstr("no answer"));
}

TEST_F(RpcSourceTest, StopsWhenInterrupted) {
  trouble_ = [](const httplib::Request&, httplib::Response* response) {
    response->status = 503;
    return true;
  };
  options_.first_pause_ms = 60'000;
  options_.interrupted = [this] { return asked_ > 0; };
  EXPECT_EQ(Get({"block", 47}).status().code(), absl::StatusCode::kCancelled);
}

TEST_F(RpcSourceTest, GoesOnFromWhatItHasKept) {
  options_.cache_dir = folder_.Path("kept");
  const RpcQuestion validators{"validators", 47, 1};
  const auto first = Get(validators);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(asked_, 1);
  EXPECT_EQ(ReadBytes(folder_.Path("kept/validators-47.json")), *first);
  EXPECT_EQ(*Get(validators), *first);
  EXPECT_EQ(asked_, 1);
  // The folder is one that can be read without the server.
  EXPECT_EQ(*OpenRpcFolder(folder_.Path("kept"))->Get(validators), *first);
}

TEST_F(RpcSourceTest, AsksAgainWhatWasRefused) {
  options_.cache_dir = folder_.Path("kept");
  EXPECT_TRUE(Get({"block", 99}).ok());  // the refusal
  EXPECT_TRUE(Get({"block", 99}).ok());
  EXPECT_EQ(asked_, 2);
}

TEST_F(RpcSourceTest, TakesOnlyAddresses) {
  EXPECT_TRUE(OpenRpcServer("tcp://localhost:26657", {}).ok());
  EXPECT_TRUE(OpenRpcServer("https://rpc.example.com/chain/", {}).ok());
  for (const char* address : {"localhost:26657", "ftp://host", "http://", "/folder"}) {
    EXPECT_EQ(OpenRpcServer(address, {}).status().code(), absl::StatusCode::kInvalidArgument)
        << address;
  }
  EXPECT_EQ((RpcQuestion{"validators", 5, 2}.FileName()), "validators-5-2.json");
  EXPECT_EQ((RpcQuestion{"validators", 5, 2}.PathAndQuery()),
            "/validators?height=5&page=2&per_page=100");
  EXPECT_EQ((RpcQuestion{"status"}.FileName()), "status.json");
}

}  // namespace
}  // namespace blockreplay::replay
