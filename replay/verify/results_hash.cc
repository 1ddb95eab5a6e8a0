#include "replay/verify/results_hash.h"

#include <bit>
#include <cstddef>
#include <span>

namespace blockreplay::replay {
namespace {

std::string_view BytesOf(const Sha256Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

// The depth is the logarithm of the number of leaves.
Sha256Digest Root(std::span<const std::string> leaves, Sha256* sha) {
  if (leaves.empty()) return sha->Finish();
  if (leaves.size() == 1) {
    sha->Update(std::string_view("\0", 1));
    sha->Update(leaves.front());
    return sha->Finish();
  }
  const size_t left_size = std::bit_floor(leaves.size() - 1);
  const Sha256Digest left = Root(leaves.first(left_size), sha);
  const Sha256Digest right = Root(leaves.subspan(left_size), sha);
  sha->Update("\1");
  sha->Update(BytesOf(left));
  sha->Update(BytesOf(right));
  return sha->Finish();
}

}  // namespace

Sha256Digest MerkleRoot(const std::vector<std::string>& leaves) {
  Sha256 sha;
  return Root(leaves, &sha);
}

Sha256Digest ResultsHash(const tendermint::abci::ResponseFinalizeBlock& response) {
  std::vector<std::string> leaves;
  leaves.reserve(static_cast<size_t>(response.tx_results_size()));
  tendermint::abci::ExecTxResult deterministic;
  for (const tendermint::abci::ExecTxResult& result : response.tx_results()) {
    deterministic.set_code(result.code());
    deterministic.set_data(result.data());
    deterministic.set_gas_wanted(result.gas_wanted());
    deterministic.set_gas_used(result.gas_used());
    leaves.push_back(deterministic.SerializeAsString());
  }
  return MerkleRoot(leaves);
}

}  // namespace blockreplay::replay
