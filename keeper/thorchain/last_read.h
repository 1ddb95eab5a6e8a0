#pragma once

// What was last computed from some ranges of THORChain's store, for as long as nothing in them is
// written. Asking for it costs the gas of computing it.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <utility>

#include "keeper/optimisations.h"
#include "keeper/sdk/context.h"
#include "keeper/thorchain/stores.h"

namespace blockreplay::keeper::thorchain {

template <typename Value>
class LastRead {
 public:
  // `compute` reads nothing but the ranges and what `inputs` stand for. Not remembered are panics.
  template <typename Compute>
  Value Get(Optimisation optimisation, const sdk::Context& ctx,
            std::initializer_list<const storage::KeyRange*> ranges,
            std::initializer_list<uint64_t> inputs, Compute&& compute) {
    sdk::GasMeter& meter = ctx.gas_meter();
    // A meter with a limit has to run out at the same access.
    if (!IsOn(optimisation) || !meter.infinite()) return compute();
    sdk::RangeStamp stamp(inputs.begin(), inputs.end());
    const sdk::StoreBranch& store = ctx.stores()->store(kThorchainStore);
    for (const storage::KeyRange* range : ranges) {
      const sdk::RangeStamp part = store.StampOf(*range);
      stamp.insert(stamp.end(), part.begin(), part.end());
      stamp.push_back(part.size());
    }
    if (value_ && stamp == stamp_) {
      meter.Consume(gas_, "ReadPerByte");
      return *value_;
    }
    const sdk::Gas before = meter.consumed();
    value_.reset();
    value_ = compute();
    stamp_ = std::move(stamp);
    gas_ = meter.consumed() - before;
    return *value_;
  }

 private:
  std::optional<Value> value_;
  sdk::RangeStamp stamp_;
  sdk::Gas gas_ = 0;
};

}  // namespace blockreplay::keeper::thorchain
