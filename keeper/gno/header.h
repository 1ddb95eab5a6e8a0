#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "storage/commit_tree.h"
#include "tendermint/abci/types.pb.h"

namespace blockreplay::keeper::gno {

inline constexpr char kLastHeaderKey[] = "last_header";

// The header that a commit leaves in the base store (tm2/pkg/bft/types, block.go), amino-encoded:
// what the request says, and what follows from the header before and the state after it. Both are
// nothing for the first block.
std::string EncodeHeader(const tendermint::abci::RequestFinalizeBlock& request,
                         std::string_view chain_id,
                         const std::optional<std::string>& previous_header,
                         const std::optional<storage::Hash>& previous_app_hash);

struct HeaderFacts {
  int64_t height = 0;
  int64_t time = 0;  // seconds since the epoch
};
// Nothing if the encoded header is malformed.
std::optional<HeaderFacts> ParseHeader(std::string_view header);

// Hash of an encoded header, which is the hash of its block; nothing if it is malformed.
std::optional<storage::Hash> HeaderHash(std::string_view header);

}  // namespace blockreplay::keeper::gno
