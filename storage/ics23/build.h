#pragma once

// Making of ICS 23 proofs from what trees and commit infos know.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "storage/commit_tree.h"
#include "storage/iavl/view.h"
#include "storage/ics23/proof_spec.h"
#include "tendermint/crypto/proof.pb.h"

namespace blockreplay::storage::ics23 {

CommitmentProof MakeIavlExistenceProof(const iavl::MembershipPath& leaf);

// With neither neighbour (an empty tree) the message is made all the same, as the Go implementation
// does, but no verifier accepts it.
CommitmentProof MakeIavlNonExistenceProof(std::string_view key,
                                          const iavl::NeighbourPaths& neighbours);

// A store of a multistore and the root hash of its tree.
struct NamedHash {
  std::string name;
  Hash hash{};
};

// The app hash: root of CometBFT's simple Merkle tree (RFC 6962: split at the largest power of two
// below the number of leaves) over `stores`, which are sorted bytewise by name; SHA-256 of nothing
// if there are none.
Hash SimpleMapRoot(std::span<const NamedHash> stores);

// Proof that `stores[index]` is under SimpleMapRoot(stores), for TendermintSpec(): key is the name,
// value the hash.
CommitmentProof MakeSimpleMapProof(std::span<const NamedHash> stores, size_t index);

// What an ABCI query with a proof answers: the store's proof for `key`, then the multistore's proof
// for the store.
::tendermint::crypto::ProofOps MakeQueryProofOps(std::string_view key,
                                                 const CommitmentProof& in_store,
                                                 std::string_view store_name,
                                                 const CommitmentProof& of_store);

// Verifies such an answer from a stranger: that `key` has `value` (or, without one, that there is
// no `key`) in the IAVL store `store_name` under `app_hash`.
absl::Status VerifyQueryProofOps(const ::tendermint::crypto::ProofOps& ops,
                                 std::string_view app_hash, std::string_view store_name,
                                 std::string_view key, std::optional<std::string_view> value);

}  // namespace blockreplay::storage::ics23
