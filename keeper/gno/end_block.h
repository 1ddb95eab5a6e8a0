#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "keeper/gno/context.h"
#include "keeper/gno/params.h"

namespace blockreplay::keeper::gno {

// The price after a block that used `gas_used` of `max_gas` (tm2/pkg/sdk/auth, keeper.go). Throws
// sdk::Panic where the original panics.
GasPrice NextGasPrice(const GasPrice& last, int64_t gas_used, int64_t max_gas,
                      const GasPriceParams& params);

// What gno.land does at the end of a block: the gas price. kUnimplemented if a change of validators
// is pending.
absl::Status EndBlock(const Context& context, int64_t gas_used, int64_t max_gas);

}  // namespace blockreplay::keeper::gno
