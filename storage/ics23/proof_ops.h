#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "storage/ics23/proof_spec.h"

namespace blockreplay::storage::ics23 {

// `op` over `data`. NO_HASH, KECCAK256 and unknown operations are errors.
absl::StatusOr<std::string> HashBytes(HashOp op, std::string_view data);

// As HashBytes, but NO_HASH gives `data` itself.
absl::StatusOr<std::string> HashBytesOrNot(HashOp op, std::string_view data);

// The hash of a leaf. An empty key or value is an error: the standard cannot prove either.
absl::StatusOr<std::string> ApplyLeafOp(const LeafOp& op, std::string_view key,
                                        std::string_view value);

// The hash of an inner node one of whose children has the hash `child`.
absl::StatusOr<std::string> ApplyInnerOp(const InnerOp& op, std::string_view child);

}  // namespace blockreplay::storage::ics23
