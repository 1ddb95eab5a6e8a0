#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "keeper/sdk/error.h"

namespace blockreplay::keeper::sdk {

using Gas = uint64_t;

// Counts gas; throws OutOfGas past the limit. An infinite meter has the limit 2^64-1, which is what
// the SDK reports as gas wanted (-1 as int64). Not thread-safe.
class GasMeter {
 public:
  static GasMeter Infinite() { return GasMeter(std::numeric_limits<Gas>::max(), true); }
  static GasMeter Limited(Gas limit) { return GasMeter(limit, false); }

  void Consume(Gas amount, std::string_view descriptor) {
    if (std::numeric_limits<Gas>::max() - consumed_ < amount) Overflow(descriptor);
    consumed_ += amount;
    if (!infinite_ && consumed_ > limit_) throw OutOfGas(descriptor);
  }

  Gas consumed() const { return consumed_; }
  Gas consumed_to_limit() const { return !infinite_ && consumed_ > limit_ ? limit_ : consumed_; }
  Gas limit() const { return limit_; }
  // It never runs out.
  bool infinite() const { return infinite_; }
  bool IsOutOfGas() const { return !infinite_ && consumed_ >= limit_; }

 private:
  GasMeter(Gas limit, bool infinite) : limit_(limit), infinite_(infinite) {}
  [[noreturn]] void Overflow(std::string_view descriptor) {
    consumed_ = infinite_ ? 0 : std::numeric_limits<Gas>::max();
    throw Panic("gas overflow: " + std::string(descriptor));
  }

  Gas consumed_ = 0;
  Gas limit_;
  bool infinite_;
};

// Prices of store access (cosmossdk.io/store v1.1, KVGasConfig).
inline constexpr Gas kHasCost = 1000;
inline constexpr Gas kDeleteCost = 1000;
inline constexpr Gas kReadCostFlat = 1000;
inline constexpr Gas kReadCostPerByte = 3;
inline constexpr Gas kWriteCostFlat = 2000;
inline constexpr Gas kWriteCostPerByte = 30;
inline constexpr Gas kIterNextCostFlat = 30;

}  // namespace blockreplay::keeper::sdk
