#include "replay/record/test_host.h"

#include <fcntl.h>
#include <grpcpp/generic/generic_stub.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cosmos/store/streaming/abci/grpc.grpc.pb.h"
#include "plugin/grpc_broker.grpc.pb.h"
#include "plugin/grpc_controller.grpc.pb.h"
#include "plugin/grpc_stdio.grpc.pb.h"

namespace blockreplay::replay {
namespace {

namespace abci = ::cosmos::store::streaming::abci;

void CheckZero(int result, const char* what) {
  if (result == 0) return;
  std::perror(what);
  std::abort();
}

}  // namespace

struct TestHost::Streams {
  grpc::ClientContext stdio_context;
  grpc::ClientContext broker_context;
  std::unique_ptr<grpc::ClientReader<plugin::StdioData>> stdio;
  std::unique_ptr<grpc::ClientReaderWriter<plugin::ConnInfo, plugin::ConnInfo>> broker;
};

std::map<std::string, std::string> TestHost::Cookie() {
  return {{"ABCI_LISTENER_PLUGIN", "ef78114d-7bdf-411c-868f-347c99a78345"},
          {"PLUGIN_PROTOCOL_VERSIONS", "1"}};
}

TestHost::TestHost(const std::string& command_line,
                   const std::map<std::string, std::string>& environment) {
  char log_path[] = "/tmp/blockreplay-test-log-XXXXXX";
  const int log_fd = ::mkstemp(log_path);
  CheckZero(log_fd < 0, "mkstemp");
  log_path_ = log_path;
  int out[2];
  CheckZero(::pipe2(out, O_CLOEXEC), "pipe2");
  stdout_fd_ = out[0];

  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable)
    variables.emplace_back(*variable);
  for (const auto& [name, value] : environment) variables.push_back(absl::StrCat(name, "=", value));
  std::vector<char*> env;
  for (std::string& variable : variables) env.push_back(variable.data());
  env.push_back(nullptr);
  std::string arguments[] = {"sh", "-c", command_line};
  char* const argv[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(), nullptr};
  posix_spawn_file_actions_t actions;
  CheckZero(posix_spawn_file_actions_init(&actions), "spawn");
  CheckZero(posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO), "spawn");
  CheckZero(posix_spawn_file_actions_adddup2(&actions, log_fd, STDERR_FILENO), "spawn");
  CheckZero(posix_spawn(&pid_, "/bin/sh", &actions, nullptr, argv, env.data()), "spawn");
  posix_spawn_file_actions_destroy(&actions);
  ::close(out[1]);
  ::close(log_fd);
}

TestHost::~TestHost() {
  if (pid_ > 0) {
    Kill(SIGKILL);
    Wait();
  }
  Vanish();
  ::unlink(log_path_.c_str());
}

std::string TestHost::Connect() {
  std::string line;
  char c = 0;
  while (::read(stdout_fd_, &c, 1) == 1 && c != '\n') line.push_back(c);
  const std::vector<std::string> fields = absl::StrSplit(line, '|');
  if (fields.size() >= 5) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxSendMessageSize(INT_MAX);
    // A channel of its own for each plugin, though sockets may have the same name.
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    channel_ = grpc::CreateCustomChannel("unix:" + fields[3], grpc::InsecureChannelCredentials(),
                                         arguments);
  }
  return line;
}

grpc::Status TestHost::Finalize(const v1::Block& block) {
  abci::ListenFinalizeBlockRequest request;
  *request.mutable_req() = block.request();
  *request.mutable_res() = block.response();
  abci::ListenFinalizeBlockResponse response;
  grpc::ClientContext context;
  return abci::ABCIListenerService::NewStub(channel_)->ListenFinalizeBlock(&context, request,
                                                                           &response);
}

grpc::Status TestHost::Commit(const v1::Block& block) {
  abci::ListenCommitRequest request;
  request.set_block_height(block.height());
  *request.mutable_change_set() = block.change_set();
  abci::ListenCommitResponse response;
  grpc::ClientContext context;
  return abci::ABCIListenerService::NewStub(channel_)->ListenCommit(&context, request, &response);
}

grpc::Status TestHost::Send(const v1::Block& block) {
  const grpc::Status status = Finalize(block);
  return status.ok() ? Commit(block) : status;
}

grpc::Status TestHost::Call(const std::string& method, const std::string& request,
                            std::string* response) {
  const grpc::Slice slice(request);
  const grpc::ByteBuffer sent(&slice, 1);
  grpc::ByteBuffer received;
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  grpc::GenericStub stub(channel_);
  const auto call = stub.PrepareUnaryCall(&context, method, sent, &queue);
  call->StartCall();
  grpc::Status status;
  call->Finish(&received, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  if (status.ok() && response != nullptr) {
    std::vector<grpc::Slice> slices;
    (void)received.Dump(&slices);
    response->clear();
    for (const grpc::Slice& part : slices)
      response->append(reinterpret_cast<const char*>(part.begin()), part.size());
  }
  return status;
}

void TestHost::OpenStreams() {
  streams_ = std::make_unique<Streams>();
  streams_->broker = plugin::GRPCBroker::NewStub(channel_)->StartStream(&streams_->broker_context);
  streams_->stdio = plugin::GRPCStdio::NewStub(channel_)->StreamStdio(&streams_->stdio_context, {});
}

void TestHost::Shutdown() {
  plugin::Empty response;
  grpc::ClientContext context;
  (void)plugin::GRPCController::NewStub(channel_)->Shutdown(&context, {}, &response);
}

void TestHost::Kill(int signal) { ::kill(pid_, signal); }

void TestHost::Vanish() {
  if (stdout_fd_ >= 0) ::close(stdout_fd_);
  stdout_fd_ = -1;
}

int TestHost::Wait() {
  int status = 0;
  CheckZero(::waitpid(pid_, &status, 0) < 0, "waitpid");
  pid_ = -1;
  return status;
}

std::string TestHost::log() const {
  std::ifstream file(log_path_);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace blockreplay::replay
