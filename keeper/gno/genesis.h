#pragma once

#include <string>

#include "absl/status/status.h"
#include "keeper/gno/context.h"
#include "tendermint/abci/types.pb.h"

namespace blockreplay::keeper::gno {

inline constexpr char kConsensusParamsKey[] = "consensus_params";

// The value of `consensus_params`. It is written to the tree itself before anything else, not with
// the writes of genesis and of block 1, which the order of keys would put it among.
std::string EncodeConsensusParams(const tendermint::abci::RequestInitChain& request);

// Everything else that genesis writes to the main store (gno.land/pkg/gnoland, app.go,
// InitChainer), without standard libraries. kUnimplemented for a genesis with transactions or realm
// parameters, kInvalidArgument for one that a node refuses.
absl::Status InitChain(const tendermint::abci::RequestInitChain& request, const Context& context);

}  // namespace blockreplay::keeper::gno
