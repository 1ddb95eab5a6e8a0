#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "tendermint/abci/types.pb.h"
#include "tendermint/types/block.pb.h"
#include "tendermint/types/types.pb.h"

namespace blockreplay::replay {

// Answers of a CometBFT (or Tendermint) RPC server, 0.34, 0.37 and 0.38, as messages: the whole
// JSON-RPC answer, or its `result` alone. Numbers may be JSON numbers or text, hashes and addresses
// hex or base64. An answer that says `error` is kNotFound with the server's message.
//
// Each is checked as far as it can be by itself, so that what comes back is what some block of that
// hash says, however little the server is trusted; that it is a block of the chain, the caller sees
// from the hashes by which blocks refer to each other, and in the end from the app hashes. `name`
// stands for the answer in messages.

struct RpcBlock {
  std::string hash;
  tendermint::types::Block block;
};

// /block. The hash is the header's, the header's hashes are those of transactions, evidence and
// last commit. Evidence of an attack on light clients is refused: its hash needs more than is read.
absl::StatusOr<RpcBlock> ParseRpcBlock(const std::string& text, const std::string& name,
                                       int64_t height);

// /commit: a header, whose hash is the one that was signed. The signatures are not verified.
absl::StatusOr<tendermint::types::Header> ParseRpcCommit(const std::string& text,
                                                         const std::string& name, int64_t height);

// How event attributes are written: as text, or (0.34) in base64.
enum class EventEncoding { kText, kBase64 };
// What the version of a node (`0.34.29`) says about it.
EventEncoding EventEncodingOf(const std::string& cometbft_version);

// /block_results: response of finalize block; begin and end block of 0.34 and 0.37 become one as
// legacy_block.h says. Without `encoding` attributes are base64 if all of them can be, in an answer
// of the old shape. What counts of the results is in the hash that the next block's header has.
absl::StatusOr<tendermint::abci::ResponseFinalizeBlock> ParseRpcBlockResults(
    const std::string& text, const std::string& name, int64_t height,
    std::optional<EventEncoding> encoding);

// /validators: one page of them appended to `set`, whose order is the chain's; the number of all of
// them. ValidatorsHash tells whether they are those that a header names.
absl::StatusOr<int64_t> ParseRpcValidators(const std::string& text, const std::string& name,
                                           int64_t height, tendermint::types::ValidatorSet* set);
std::string ValidatorsHash(const tendermint::types::ValidatorSet& set);

struct RpcStatus {
  std::string chain_id;
  std::string version;  // CometBFT's
  int64_t earliest_height = 0;
  int64_t latest_height = 0;
};

// /status.
absl::StatusOr<RpcStatus> ParseRpcStatus(const std::string& text, const std::string& name);

}  // namespace blockreplay::replay
