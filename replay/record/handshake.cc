#include "replay/record/handshake.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace blockreplay::replay {
namespace {

// cosmossdk.io/store/streaming/abci, Handshake.
constexpr char kCookieName[] = "ABCI_LISTENER_PLUGIN";
constexpr char kCookie[] = "ef78114d-7bdf-411c-868f-347c99a78345";
constexpr char kProtocolVersion[] = "1";

}  // namespace

absl::StatusOr<HandshakeRequest> ReadHandshake(const Environment& environment) {
  if (environment(kCookieName) != kCookie) {
    return absl::FailedPreconditionError(
        "this command is started by a node, not by hand: set COSMOS_SDK_ABCI=\"blockreplay record "
        "--out DIR\" in the node's environment, and "
        "in its app.toml [streaming.abci] keys = [\"*\"] and plugin = \"abci\" "
        "(docs/streaming-plugin.md); "
        "what was recorded becomes a recording with: blockreplay record finish DIR");
  }
  // A list of the versions that the host can speak; old hosts say nothing.
  if (const std::optional<std::string> versions = environment("PLUGIN_PROTOCOL_VERSIONS")) {
    const std::vector<std::string> list = absl::StrSplit(*versions, ',');
    if (std::find(list.begin(), list.end(), kProtocolVersion) == list.end()) {
      return absl::UnimplementedError(absl::StrCat("the node speaks version ", *versions,
                                                   " of the streaming plugin's protocol, only ",
                                                   kProtocolVersion, " is known here"));
    }
  }
  if (!environment("PLUGIN_CLIENT_CERT").value_or("").empty()) {
    return absl::UnimplementedError(
        "the host asks for TLS on the plugin's socket (AutoMTLS), which is not supported");
  }
  HandshakeRequest request;
  request.asks_for_multiplexing = !environment("PLUGIN_MULTIPLEX_GRPC").value_or("").empty();
  for (const char* name : {"PLUGIN_UNIX_SOCKET_DIR", "TMPDIR"}) {
    if (request.socket_dir.empty()) request.socket_dir = environment(name).value_or("");
  }
  if (request.socket_dir.empty()) request.socket_dir = "/tmp";
  return request;
}

std::string HandshakeLine(const HandshakeRequest& request, const std::string& path) {
  return absl::StrCat("1|", kProtocolVersion, "|unix|", path, "|grpc|",
                      request.asks_for_multiplexing ? "|false" : "", "\n");
}

}  // namespace blockreplay::replay
