#include "replay/import/cometbft_state_store.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/import/formats/legacy_block.h"

namespace blockreplay::replay {
namespace {

using tendermint::abci::ResponseFinalizeBlock;
using tendermint::state::ABCIResponsesInfo;
using tendermint::state::LegacyABCIResponses;
using tendermint::state::ValidatorsInfo;
using tendermint::types::ValidatorSet;

// Validator sets are kept where they change, and every so many heights (valSetCheckpointInterval).
constexpr int64_t kValidatorCheckpoint = 100'000;

ResponseFinalizeBlock FromLegacy(const LegacyABCIResponses& legacy) {
  ResponseFinalizeBlock response;
  AddLegacyEvents(LegacyPhase::kBeginBlock, legacy.begin_block().events(), &response);
  *response.mutable_tx_results() = legacy.deliver_txs();
  SetLegacyEnd(legacy.end_block(), &response);
  return response;
}

}  // namespace

absl::StatusOr<ResponseFinalizeBlock> ParseStoredResponse(const std::string& bytes) {
  ResponseFinalizeBlock response;
  // What was written before 0.38 may parse, too, but it has no app hash, and later ones always
  // have.
  if (response.ParseFromString(bytes) && !response.app_hash().empty()) return response;
  LegacyABCIResponses legacy;
  if (!legacy.ParseFromString(bytes)) {
    return absl::DataLossError("neither a ResponseFinalizeBlock nor an ABCIResponses message");
  }
  return FromLegacy(legacy);
}

absl::StatusOr<CometBftStateStore> CometBftStateStore::Open(const storage::Reader* db,
                                                            std::string name) {
  CometBftStateStore store(db, std::move(name), {});
  absl::StatusOr<bool> found = store.Load("stateKey", &store.state_);
  if (!found.ok()) return found.status();
  if (!*found) {
    return absl::NotFoundError(absl::StrCat(
        store.name_, " is not a state store of CometBFT 0.34 to 0.38 (no key stateKey)"));
  }
  return store;
}

absl::StatusOr<bool> CometBftStateStore::Load(const std::string& key,
                                              google::protobuf::MessageLite* message) const {
  std::string bytes;
  absl::StatusOr<bool> found = db_->Get(key, &bytes);
  if (!found.ok() || !*found) return found;
  if (!message->ParseFromString(bytes)) {
    return absl::DataLossError(absl::StrCat(name_, ": the value of ", key, " is not a ",
                                            message->GetTypeName(), " message"));
  }
  return true;
}

absl::StatusOr<std::optional<ResponseFinalizeBlock>> CometBftStateStore::LoadResponse(
    int64_t height) const {
  const std::string key = absl::StrCat("abciResponsesKey:", height);
  std::string bytes;
  absl::StatusOr<bool> found = db_->Get(key, &bytes);
  if (!found.ok()) return found.status();
  if (*found) {
    absl::StatusOr<ResponseFinalizeBlock> response = ParseStoredResponse(bytes);
    if (!response.ok()) {
      return absl::DataLossError(
          absl::StrCat(name_, ": the value of ", key, " is ", response.status().message()));
    }
    return *std::move(response);
  }
  // Always kept of the last block, in case its state could not be written.
  ABCIResponsesInfo last;
  found = Load("lastABCIResponseKey", &last);
  if (!found.ok()) return found.status();
  if (!*found || last.height() != height) return std::nullopt;
  if (last.has_response_finalize_block()) return std::move(*last.mutable_response_finalize_block());
  return FromLegacy(last.legacy_abci_responses());
}

absl::StatusOr<ValidatorSet> CometBftStateStore::LoadValidators(int64_t height) const {
  ValidatorsInfo info;
  absl::StatusOr<bool> found = Load(absl::StrCat("validatorsKey:", height), &info);
  if (!found.ok()) return found.status();
  if (*found && !info.has_validator_set()) {
    const int64_t kept_at =
        std::max(height - height % kValidatorCheckpoint, info.last_height_changed());
    found = Load(absl::StrCat("validatorsKey:", kept_at), &info);
    if (!found.ok()) return found.status();
  }
  if (!*found || !info.has_validator_set()) {
    return absl::NotFoundError(absl::StrCat(name_, " has no validators of height ", height));
  }
  return std::move(*info.mutable_validator_set());
}

absl::StatusOr<std::optional<std::string>> CometBftStateStore::LoadGenesis() const {
  std::string bytes;
  absl::StatusOr<bool> found = db_->Get("genesisDoc", &bytes);
  if (!found.ok()) return found.status();
  if (!*found) return std::nullopt;
  return bytes;
}

}  // namespace blockreplay::replay
