#pragma once

#include "absl/status/status.h"
#include "cosmos/ics23/v1/proofs.pb.h"

namespace blockreplay::storage::ics23 {

using ::cosmos::ics23::v1::CommitmentProof;
using ::cosmos::ics23::v1::ExistenceProof;
using ::cosmos::ics23::v1::HashOp;
using ::cosmos::ics23::v1::InnerOp;
using ::cosmos::ics23::v1::InnerSpec;
using ::cosmos::ics23::v1::LeafOp;
using ::cosmos::ics23::v1::LengthOp;
using ::cosmos::ics23::v1::NonExistenceProof;
using ::cosmos::ics23::v1::ProofSpec;

// The shape of proofs of IAVL trees and of CometBFT's simple Merkle tree, which a multistore's app
// hash is the root of: the constants of the ICS 23 standard, equal to those of
// github.com/cosmos/ics23 v0.11. Thread-safe.
const ProofSpec& IavlSpec();
const ProofSpec& TendermintSpec();

// An error if no proof can be judged by `spec`: a part is missing, a length makes no sense, or the
// position of a child could not be told from the length of a prefix.
absl::Status CheckSpec(const ProofSpec& spec);

// Whether inner and leaf prefixes of proofs under `spec` are IAVL's, which are checked beyond what
// the spec can say.
bool IsIavlLike(const ProofSpec& spec);

}  // namespace blockreplay::storage::ics23
