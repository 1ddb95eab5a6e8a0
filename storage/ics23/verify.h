#pragma once

// Verification of ICS 23 proofs,
// https://github.com/cosmos/ibc/tree/main/spec/core/ics-023-vector-commitments, with the checks of
// github.com/cosmos/ics23 v0.11 that guard against forged paths. All input is untrusted; nothing
// recurses, and the work is bounded by the depth limit of the spec (128 where it has none).
// Thread-safe.

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/ics23/proof_spec.h"

namespace blockreplay::storage::ics23 {

// The root that `proof` leads to, whatever its shape. It says nothing about validity: see the
// functions below.
absl::StatusOr<std::string> CalculateRoot(const ExistenceProof& proof);

// Ok if `proof` shows that `key` has `value` under `root`; the error says which rule it breaks. An
// empty key or an empty value cannot be proven.
absl::Status VerifyMembership(const ProofSpec& spec, std::string_view root,
                              const CommitmentProof& proof, std::string_view key,
                              std::string_view value);

// Ok if `proof` shows that there is no `key` under `root`. Stricter than the Go implementation in
// one point: the key that the proof names must be `key`, so that no byte of a proof may be changed
// unnoticed.
absl::Status VerifyNonMembership(const ProofSpec& spec, std::string_view root,
                                 const CommitmentProof& proof, std::string_view key);

}  // namespace blockreplay::storage::ics23
