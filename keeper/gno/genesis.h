#pragma once

#include "absl/status/status.h"
#include "keeper/gno/context.h"
#include "tendermint/abci/types.pb.h"

namespace blockreplay::keeper::gno {

// Everything that genesis writes, besides the consensus parameters, to the main store
// (gno.land/pkg/gnoland, app.go, InitChainer), without standard libraries. kUnimplemented for a
// genesis with transactions or realm parameters, kInvalidArgument for one that a node refuses.
absl::Status InitChain(const tendermint::abci::RequestInitChain& request, const Context& context);

}  // namespace blockreplay::keeper::gno
