#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "blockreplay/v1/recording.pb.h"
#include "replay/import/formats/rpc_json.h"
#include "replay/import/rpc_source.h"
#include "tendermint/types/block.pb.h"
#include "tendermint/types/types.pb.h"

namespace blockreplay::replay {

// Blocks of a chain as an RPC server tells them. What it says must agree with its own hashes:
// block, transactions, evidence and last commit with the header, each header with the one before
// it, the validators with the header that names them; the results with the next header's hash where
// the recording is completed. A server that makes up a whole chain is found out by the app hashes.
// Not thread-safe; memory holds two blocks.
class RpcBlocks {
 public:
  // Asks for the status, which a folder need not have and a server may refuse.
  static absl::StatusOr<std::unique_ptr<RpcBlocks>> Open(std::unique_ptr<RpcSource> source);

  // Where it is known.
  const std::optional<RpcStatus>& status() const { return status_; }

  // The header of a block; nothing where there is no answer.
  absl::StatusOr<std::optional<tendermint::types::Header>> HeaderAt(int64_t height);
  // Sets request, response (without app hash before 0.38) and header. Heights ascend without gap.
  // The chain's initial height has no last commit, and needs no validators.
  absl::Status Read(int64_t height, v1::Block* block);

 private:
  explicit RpcBlocks(std::unique_ptr<RpcSource> source) : source_(std::move(source)) {}

  absl::StatusOr<RpcBlock> BlockAt(int64_t height);
  // Those that signed the last commit of `block`: in use at the height before it.
  absl::Status LoadLastValidators(const RpcBlock& block);
  absl::Status CheckFollows(const RpcBlock& block) const;
  std::string BlockName(int64_t height) const;

  std::unique_ptr<RpcSource> source_;
  std::optional<RpcStatus> status_;
  std::optional<EventEncoding> encoding_;
  // The block read last.
  std::optional<tendermint::types::Header> last_header_;
  std::string last_hash_;
  tendermint::types::ValidatorSet validators_;
  std::string validators_hash_;
};

}  // namespace blockreplay::replay
