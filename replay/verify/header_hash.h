#pragma once

#include "replay/recording/sha256.h"
#include "tendermint/abci/types.pb.h"
#include "tendermint/types/types.pb.h"

namespace blockreplay::replay {

// A block's hash: the Merkle root over the encoded fields of its header, as CometBFT (and
// Tendermint since 0.34) computes it.
Sha256Digest HeaderHash(const tendermint::types::Header& header);

// A header's data_hash: the Merkle root over the SHA-256 of each transaction.
Sha256Digest DataHash(const tendermint::abci::RequestFinalizeBlock& request);

}  // namespace blockreplay::replay
