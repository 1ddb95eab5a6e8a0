#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "tendermint/abci/types.pb.h"

namespace blockreplay::replay {

// A genesis document: CometBFT's own, the SDK's with the consensus parameters under `consensus`, or
// tm2's.
struct Genesis {
  // As CometBFT 0.38 asks the application, with the bytes of `app_state` as they stand in the text.
  tendermint::abci::RequestInitChain init_chain;
  std::string app_name;  // the SDK's; empty in CometBFT's
  std::string sha256;    // of the document, lower-case hex
};

// kInvalidArgument names the member that is missing or wrong; `source` names the document.
absl::StatusOr<Genesis> ParseGenesis(const std::string& text, const std::string& source);
// A genesis document of tm2, which has its parameters and keys in amino JSON.
absl::StatusOr<Genesis> ParseTm2Genesis(const std::string& text, const std::string& source);
// Of a file, up to 4 GiB.
absl::StatusOr<Genesis> LoadGenesis(const std::string& path);
absl::StatusOr<Genesis> LoadTm2Genesis(const std::string& path);

}  // namespace blockreplay::replay
