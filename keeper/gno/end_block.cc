#include "keeper/gno/end_block.h"

#include <algorithm>
#include <optional>
#include <string>

#include "keeper/gno/auth.h"
#include "keeper/sdk/panic.h"

namespace blockreplay::keeper::gno {
namespace {

using Wide = __int128;

// Euclidean, as big.Int divides.
Wide Divide(Wide dividend, Wide divisor) {
  if (divisor == 0) throw sdk::Panic("division by zero");
  Wide quotient = dividend / divisor;
  if (dividend % divisor < 0) quotient += divisor > 0 ? -1 : 1;
  return quotient;
}

}  // namespace

GasPrice NextGasPrice(const GasPrice& last, int64_t gas_used, int64_t max_gas,
                      const GasPriceParams& params) {
  if (last.amount == 0 || params.target_gas_ratio == 0) return last;
  const Wide target = Divide(static_cast<Wide>(max_gas) * params.target_gas_ratio, 100);
  if (target == gas_used) return last;
  const Wide price = last.amount;
  Wide next = 0;
  if (gas_used > target) {
    const Wide step = Divide(Divide((gas_used - target) * price, target), params.change_compressor);
    next = price + std::max<Wide>(step, 1);
  } else {
    if (last.amount < params.initial.amount) return params.initial;
    const Wide step = Divide(Divide((target - gas_used) * price, target), params.change_compressor);
    next = std::max<Wide>(price - std::max<Wide>(step, 1), params.initial.amount);
  }
  if (next > INT64_MAX || next < INT64_MIN)
    throw sdk::Panic("The min gas price is out of int64 range");
  GasPrice result = last;
  result.amount = static_cast<int64_t>(next);
  return result;
}

absl::Status EndBlock(const Context& context, int64_t gas_used, int64_t max_gas) {
  const Payer free;
  try {
    const GasPriceParams params = ReadGasPriceParams(context.state);
    GasPrice last;
    if (const auto bytes = context.state->Get(kGasPriceKey, free); bytes.has_value()) {
      const std::optional<GasPrice> stored = GasPrice::Decode(*bytes);
      if (!stored.has_value()) throw sdk::Panic("stored gas price is malformed");
      last = *stored;
    }
    const GasPrice next = NextGasPrice(last, gas_used, max_gas, params);
    if (next != last && next != GasPrice())
      context.state->Set(kGasPriceKey, context.scratch->Copy(next.Encode()), free);
  } catch (const sdk::Panic& panic) {
    return absl::InternalError("the node panics at the end of the block: " + panic.message());
  }
  const auto dirty = context.state->Get(ParamKey("node:valset:dirty"), free);
  if (dirty.has_value() && *dirty != "false" && *dirty != "null")
    return absl::UnimplementedError("a change of validators has no native code");
  return absl::OkStatus();
}

}  // namespace blockreplay::keeper::gno
