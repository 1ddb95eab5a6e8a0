#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tendermint/abci/types.pb.h"

namespace blockreplay::keeper::gno {

inline constexpr char kConsensusParamsKey[] = "consensus_params";

// The value of `consensus_params` at genesis. It is written to the tree itself before anything
// else, not with the writes of genesis and of block 1, which the order of keys would put it among.
std::string EncodeConsensusParams(const tendermint::abci::RequestInitChain& request);

// The limit of gas of a block and of a transaction, -1 for none; nothing where amino refuses.
std::optional<int64_t> MaxGasOf(std::string_view consensus_params);

}  // namespace blockreplay::keeper::gno
