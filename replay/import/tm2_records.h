#pragma once

// What a tm2 node (gnolang/gno, tm2/pkg/bft) keeps in blockstore.db and state.db: amino-encoded, so
// close to CometBFT's messages and none of them. Field numbers are those of types.proto, abci.proto
// and, where there is no such file, the order of the Go structs' fields. Parsers are strict as
// amino is; kDataLoss says what is wrong.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "google/protobuf/timestamp.pb.h"
#include "tendermint/abci/types.pb.h"

namespace blockreplay::replay {

struct Tm2Header {
  std::string hash;  // of the header, and so of the block
  std::string chain_id;
  int64_t height = 0;
  google::protobuf::Timestamp time;
  std::string app_version;
  std::string last_block_hash;
  std::string data_hash;  // these four empty where there is nothing to hash
  std::string next_validators_hash;
  std::string app_hash;      // after the block before
  std::string results_hash;  // of the block before
  std::string proposer;      // 20 bytes
};
absl::StatusOr<Tm2Header> ParseTm2Header(std::string_view bytes);

struct Tm2BlockMeta {
  Tm2Header header;
  int64_t parts = 0;
};
// The header must have the hash that the block is filed under.
absl::StatusOr<Tm2BlockMeta> ParseTm2BlockMeta(std::string_view bytes);

// The bytes of one part of a block, which must be the one with that index.
absl::StatusOr<std::string_view> ParseTm2Part(std::string_view bytes, int64_t index);

struct Tm2Block {
  Tm2Header header;
  std::vector<std::string> txs;
  int32_t last_round = 0;  // of the last commit
  std::vector<bool> last_signed;
};
// Of all its parts. The transactions must have the header's data hash.
absl::StatusOr<Tm2Block> ParseTm2Block(std::string_view bytes);

struct Tm2Responses {
  // Events are `Any` messages there; here each has the name of its type and one attribute, "amino",
  // the value in base64. Those of begin and end block have the attribute `mode` besides.
  tendermint::abci::ResponseFinalizeBlock response;
  std::string results_hash;  // which the next header must have; empty without transactions
};
absl::StatusOr<Tm2Responses> ParseTm2Responses(std::string_view bytes);

struct Tm2Validator {
  std::string address;  // 20 bytes
  int64_t power = 0;
};
struct Tm2Validators {
  std::vector<Tm2Validator> validators;  // empty: those of `last_changed`
  int64_t last_changed = 0;
};
absl::StatusOr<Tm2Validators> ParseTm2Validators(std::string_view bytes);

struct Tm2State {
  std::string software;  // version of tm2
  std::string chain_id;
  int64_t initial_height = 1;
  int64_t last_height = 0;
  std::string results_hash;  // of the last block
  std::string app_hash;
};
absl::StatusOr<Tm2State> ParseTm2State(std::string_view bytes);

// The height of the block store's descriptor, JSON.
absl::StatusOr<int64_t> ParseTm2BlockStoreHeight(std::string_view bytes);

}  // namespace blockreplay::replay
