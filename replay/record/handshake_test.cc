#include "replay/record/handshake.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace blockreplay::replay {
namespace {

using ::testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

// As cosmossdk.io/store/streaming starts a plugin.
const Variables kHost = {{"ABCI_LISTENER_PLUGIN", "ef78114d-7bdf-411c-868f-347c99a78345"},
                         {"PLUGIN_MIN_PORT", "10000"},
                         {"PLUGIN_MAX_PORT", "25000"},
                         {"PLUGIN_PROTOCOL_VERSIONS", "1"}};

absl::StatusOr<HandshakeRequest> Read(Variables variables, const Variables& more = {}) {
  for (const auto& [name, value] : more) variables[name] = value;
  return ReadHandshake([variables](const char* name) -> std::optional<std::string> {
    const auto it = variables.find(name);
    return it == variables.end() ? std::nullopt : std::optional<std::string>(it->second);
  });
}

TEST(HandshakeTest, AnswersANode) {
  const auto request = Read(kHost);
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->socket_dir, "/tmp");
  EXPECT_EQ(HandshakeLine(*request, "/tmp/socket"), "1|1|unix|/tmp/socket|grpc|\n");
}

TEST(HandshakeTest, PutsTheSocketWhereTheHostWantsIt) {
  EXPECT_EQ(Read(kHost, {{"TMPDIR", "/var/tmp"}})->socket_dir, "/var/tmp");
  EXPECT_EQ(Read(kHost, {{"TMPDIR", "/var/tmp"}, {"PLUGIN_UNIX_SOCKET_DIR", "/run/x"}})->socket_dir,
            "/run/x");
}

TEST(HandshakeTest, DeniesMultiplexingOnlyToHostsThatAsk) {
  const auto request = Read(kHost, {{"PLUGIN_MULTIPLEX_GRPC", "true"}});
  EXPECT_EQ(HandshakeLine(*request, "/s"), "1|1|unix|/s|grpc||false\n");
}

TEST(HandshakeTest, TellsAPersonWhatToDo) {
  for (const Variables& variables : {Variables{}, Variables{{"ABCI_LISTENER_PLUGIN", "another"}}}) {
    const auto request = Read(variables);
    EXPECT_EQ(request.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(request.status().message(), HasSubstr("COSMOS_SDK_ABCI"));
  }
}

TEST(HandshakeTest, RefusesWhatItCannotSpeak) {
  EXPECT_THAT(Read(kHost, {{"PLUGIN_PROTOCOL_VERSIONS", "2,3"}}).status().message(),
              HasSubstr("2,3"));
  EXPECT_TRUE(Read(kHost, {{"PLUGIN_PROTOCOL_VERSIONS", "2,1"}}).ok());
  EXPECT_THAT(Read(kHost, {{"PLUGIN_CLIENT_CERT", "-----BEGIN"}}).status().message(),
              HasSubstr("TLS"));
}

}  // namespace
}  // namespace blockreplay::replay
