#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "storage/kv/store.h"
#include "tendermint/abci/types.pb.h"
#include "tendermint/state/types.pb.h"
#include "tendermint/types/block.pb.h"

namespace blockreplay::replay {

// A node's state.db as CometBFT 0.34, 0.37 and 0.38 keep it. One thread.
class CometBftStateStore {
 public:
  // `db` must outlive it. `name` stands for it in messages. kNotFound: no state store.
  static absl::StatusOr<CometBftStateStore> Open(const storage::Reader* db, std::string name);

  const std::string& chain_id() const { return state_.chain_id(); }
  // Of CometBFT, "0.38.17", as of the last block.
  const std::string& software() const { return state_.version().software(); }
  int64_t last_block_height() const { return state_.last_block_height(); }
  int64_t initial_height() const { return state_.initial_height(); }

  // What the application answered to a block; nothing where that is not kept (pruned, or
  // `discard_abci_responses`). Those of 0.34 and 0.37 become one as CometBFT 0.38 shows them: the
  // events of begin and end block get an attribute `mode`, and there is no app hash.
  absl::StatusOr<std::optional<tendermint::abci::ResponseFinalizeBlock>> LoadResponse(
      int64_t height) const;

  // The validators that vote for the block, in their order. kNotFound where they are not kept.
  absl::StatusOr<tendermint::types::ValidatorSet> LoadValidators(int64_t height) const;

  // The genesis document that the node started with, JSON; nothing where it is not kept.
  absl::StatusOr<std::optional<std::string>> LoadGenesis() const;

 private:
  CometBftStateStore(const storage::Reader* db, std::string name, tendermint::state::State state)
      : db_(db), name_(std::move(name)), state_(std::move(state)) {}

  // False where the key is absent; kDataLoss where the value is not such a message.
  absl::StatusOr<bool> Load(const std::string& key, google::protobuf::MessageLite* message) const;

  const storage::Reader* db_;
  std::string name_;
  tendermint::state::State state_;
};

// A value of `abciResponsesKey:<height>`, of any version. kDataLoss: neither form.
absl::StatusOr<tendermint::abci::ResponseFinalizeBlock> ParseStoredResponse(
    const std::string& bytes);

}  // namespace blockreplay::replay
