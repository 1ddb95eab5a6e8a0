#pragma once

#include <string>
#include <vector>

#include "blockreplay/v1/recording.pb.h"
#include "replay/recording/sha256.h"

namespace blockreplay::replay {

// Root of the RFC 6962 Merkle tree over `leaves`, as CometBFT's crypto/merkle computes it: a leaf
// hashes 0x00 and its bytes, an inner node 0x01 and its children, the left child holds the largest
// power of two of leaves; no leaves give SHA-256 of nothing.
Sha256Digest MerkleRoot(const std::vector<std::string>& leaves);

// CometBFT 0.38's LastResultsHash: the Merkle root over the transactions' results, of which code,
// data, gas wanted and gas used count. The header of block h+1 carries the hash of block h's
// results. It is a hash of its own: the app hash says what the state is, this one what the
// transactions answered.
Sha256Digest ResultsHash(const tendermint::abci::ResponseFinalizeBlock& response);

}  // namespace blockreplay::replay
