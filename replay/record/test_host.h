#pragma once

#include <grpcpp/grpcpp.h>
#include <sys/types.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "blockreplay/v1/recording.pb.h"

namespace blockreplay::replay {

// For tests: the side of a node in the protocol of streaming plugins. Starts a command line as the
// SDK does (`sh -c`, cookie in the environment, pipes for output), reads the handshake, and calls.
class TestHost {
 public:
  // Does not wait for the handshake.
  explicit TestHost(const std::string& command_line,
                    const std::map<std::string, std::string>& environment = Cookie());
  // Kills what is left.
  ~TestHost();
  TestHost(const TestHost&) = delete;
  TestHost& operator=(const TestHost&) = delete;

  static std::map<std::string, std::string> Cookie();

  // The line of the handshake; empty where the process ended without. Connects.
  std::string Connect();

  // What a node calls for a block.
  grpc::Status Finalize(const v1::Block& block);
  grpc::Status Commit(const v1::Block& block);
  // Both; the first error.
  grpc::Status Send(const v1::Block& block);
  // Any unary method with any bytes.
  grpc::Status Call(const std::string& method, const std::string& request,
                    std::string* response = nullptr);
  // The two streams that a host opens and leaves open.
  void OpenStreams();

  void Shutdown();
  void Kill(int signal);
  // Closes our ends of the pipes, as when the node dies.
  void Vanish();
  // Waits for the end; its wait status.
  int Wait();
  // Standard error, complete after Wait.
  std::string log() const;
  pid_t pid() const { return pid_; }

 private:
  struct Streams;

  std::string log_path_;
  pid_t pid_ = -1;
  int stdout_fd_ = -1;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<Streams> streams_;
};

}  // namespace blockreplay::replay
