#include "replay/import/test_rpc.h"

#include <cstdlib>

#include "absl/strings/ascii.h"
#include "nlohmann/json.hpp"
#include "replay/import/formats/rpc_json.h"
#include "replay/recording/test_recording.h"

namespace blockreplay::replay {

void ForgeBlockTime(const std::string& path, int64_t height, const std::string& time) {
  nlohmann::json answer = nlohmann::json::parse(ReadBytes(path));
  nlohmann::json& result = answer.contains("result") ? answer["result"] : answer;
  result["block"]["header"]["time"] = time;
  // The error says which hash the header has now.
  const std::string error(ParseRpcBlock(answer.dump(), "block", height).status().message());
  constexpr char kBefore[] = "but what it is of has ";
  const size_t at = error.find(kBefore);
  if (at == std::string::npos) std::abort();
  result["block_id"]["hash"] = absl::AsciiStrToUpper(error.substr(at + sizeof(kBefore) - 1, 64));
  if (!ParseRpcBlock(answer.dump(), "block", height).ok()) std::abort();
  WriteBytes(path, answer.dump());
}

}  // namespace blockreplay::replay
