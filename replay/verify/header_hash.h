#pragma once

#include <google/protobuf/repeated_field.h>

#include <string>

#include "replay/recording/sha256.h"
#include "tendermint/types/types.pb.h"

namespace blockreplay::replay {

// A block's hash: the Merkle root over the encoded fields of its header, as CometBFT (and
// Tendermint since 0.34) computes it.
Sha256Digest HeaderHash(const tendermint::types::Header& header);

// A header's data_hash: the Merkle root over the SHA-256 of each transaction.
Sha256Digest DataHash(const google::protobuf::RepeatedPtrField<std::string>& txs);

}  // namespace blockreplay::replay
