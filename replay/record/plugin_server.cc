#include "replay/record/plugin_server.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "cosmos/store/streaming/abci/grpc.grpc.pb.h"
#include "plugin/grpc_broker.grpc.pb.h"
#include "plugin/grpc_controller.grpc.pb.h"
#include "plugin/grpc_stdio.grpc.pb.h"
#include "replay/record/host_log.h"
#include "replay/recording/delimited_reader.h"
#include "replay/recording/file_io.h"

namespace blockreplay::replay {
namespace {

namespace abci = ::cosmos::store::streaming::abci;

// For the streams that a host leaves open, and the answer to its Shutdown; it kills the process
// after 2 s. Blocks are not concerned: what is being written is waited for.
constexpr auto kShutdownGrace = std::chrono::milliseconds(200);
constexpr int kMaxMessageSize = static_cast<int>(DelimitedReader::kMaxMessageSize);

grpc::Status ToGrpc(const absl::Status& status) {
  // The codes have the same numbers on both sides.
  return {static_cast<grpc::StatusCode>(status.code()), std::string(status.message())};
}

class ListenerService final : public abci::ABCIListenerService::Service {
 public:
  explicit ListenerService(Recorder* recorder) : recorder_(recorder) {}

  grpc::Status ListenFinalizeBlock(grpc::ServerContext* /*context*/,
                                   const abci::ListenFinalizeBlockRequest* request,
                                   abci::ListenFinalizeBlockResponse* /*response*/) override {
    return ToGrpc(recorder_->FinalizeBlock(*request));
  }
  grpc::Status ListenCommit(grpc::ServerContext* /*context*/,
                            const abci::ListenCommitRequest* request,
                            abci::ListenCommitResponse* /*response*/) override {
    return ToGrpc(recorder_->Commit(*request));
  }

 private:
  Recorder* const recorder_;
};

// An event that a thread can wait for together with files.
class Event {
 public:
  Event() : fd_(::eventfd(0, EFD_CLOEXEC)) {}
  ~Event() { ::close(fd_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void Set() const {
    const uint64_t one = 1;
    const ssize_t ignored = ::write(fd_, &one, sizeof(one));
    (void)ignored;
  }
  int fd() const { return fd_; }

 private:
  const int fd_;
};

class ControllerService final : public plugin::GRPCController::CallbackService {
 public:
  explicit ControllerService(const Event* shutdown) : shutdown_(shutdown) {}

  grpc::ServerUnaryReactor* Shutdown(grpc::CallbackServerContext* context,
                                     const plugin::Empty* /*request*/,
                                     plugin::Empty* /*response*/) override {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    shutdown_->Set();
    return reactor;
  }

 private:
  const Event* const shutdown_;
};

// Standard output is the handshake's and standard error the log's, which the host reads anyway: the
// stream stays open and empty.
class StdioService final : public plugin::GRPCStdio::CallbackService {
 public:
  grpc::ServerWriteReactor<plugin::StdioData>* StreamStdio(
      grpc::CallbackServerContext* /*context*/,
      const google::protobuf::Empty* /*request*/) override {
    class Silence final : public grpc::ServerWriteReactor<plugin::StdioData> {
     public:
      void OnCancel() override { Finish(grpc::Status::CANCELLED); }
      void OnDone() override { delete this; }
    };
    return new Silence;
  }
};

// Takes what the host announces and announces nothing: the listener's interface needs no further
// connections.
class BrokerService final : public plugin::GRPCBroker::CallbackService {
 public:
  grpc::ServerBidiReactor<plugin::ConnInfo, plugin::ConnInfo>* StartStream(
      grpc::CallbackServerContext* /*context*/) override {
    class Listener final : public grpc::ServerBidiReactor<plugin::ConnInfo, plugin::ConnInfo> {
     public:
      Listener() { StartRead(&announced_); }
      void OnReadDone(bool ok) override {
        if (ok) {
          StartRead(&announced_);
        } else {
          Finish(grpc::Status::OK);
        }
      }
      void OnDone() override { delete this; }

     private:
      plugin::ConnInfo announced_;
    };
    return new Listener;
  }
};

// A folder that only this user can enter, for the socket.
class SocketDir {
 public:
  static absl::StatusOr<std::unique_ptr<SocketDir>> Create(const std::string& parent) {
    std::string path = absl::StrCat(parent, "/blockreplay-plugin-XXXXXX");
    if (::mkdtemp(path.data()) == nullptr)
      return ErrnoStatus(errno, "create a folder for the plugin's socket in", parent);
    std::unique_ptr<SocketDir> dir(new SocketDir(path));
    if (dir->socket().size() >= sizeof(sockaddr_un{}.sun_path)) {
      return absl::InvalidArgumentError(absl::StrCat(
          dir->socket(), " is too long for a Unix socket: set TMPDIR to a shorter path"));
    }
    return dir;
  }
  ~SocketDir() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  SocketDir(const SocketDir&) = delete;
  SocketDir& operator=(const SocketDir&) = delete;

  std::string socket() const { return path_ + "/socket"; }

 private:
  explicit SocketDir(std::string path) : path_(std::move(path)) {}
  const std::string path_;
};

// Returns when the host asked for the end, or nobody can read our standard output any more.
void AwaitEnd(const Event& shutdown) {
  pollfd fds[] = {{.fd = shutdown.fd(), .events = POLLIN, .revents = 0},
                  {.fd = STDOUT_FILENO, .events = 0, .revents = 0}};
  while (::poll(fds, 2, -1) < 0 || (fds[0].revents == 0 && fds[1].revents == 0)) {
  }
  if (fds[0].revents == 0) LogToHost(LogLevel::kWarn, "the node is gone");
}

}  // namespace

absl::Status ServeNode(const HandshakeRequest& handshake, Recorder* recorder) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
  absl::StatusOr<std::unique_ptr<SocketDir>> dir = SocketDir::Create(handshake.socket_dir);
  if (!dir.ok()) return dir.status();

  const Event shutdown;
  ListenerService listener(recorder);
  ControllerService controller(&shutdown);
  StdioService stdio;
  BrokerService broker;
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(kMaxMessageSize);
  builder.AddListeningPort(absl::StrCat("unix:", (*dir)->socket()),
                           grpc::InsecureServerCredentials());
  builder.RegisterService(&listener);
  builder.RegisterService(&controller);
  builder.RegisterService(&stdio);
  builder.RegisterService(&broker);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) {
    return absl::UnavailableError(absl::StrCat("cannot listen on ", (*dir)->socket()));
  }
  server->GetHealthCheckService()->SetServingStatus("plugin", true);

  const std::string line = HandshakeLine(handshake, (*dir)->socket());
  if (std::fwrite(line.data(), 1, line.size(), stdout) != line.size() || std::fflush(stdout) != 0) {
    return ErrnoStatus(errno, "write the handshake to", "standard output");
  }
  AwaitEnd(shutdown);
  server->Shutdown(std::chrono::system_clock::now() + kShutdownGrace);
  server->Wait();
  return absl::OkStatus();
}

}  // namespace blockreplay::replay
