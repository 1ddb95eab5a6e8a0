#pragma once

// Gas of tm2 (tm2/pkg/store/types/gas.go): signed, with refunds.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>

#include "keeper/sdk/panic.h"

namespace blockreplay::keeper::gno {

class GasMeter {
 public:
  static GasMeter Infinite() { return GasMeter(0, true); }
  // Throws sdk::Panic for a negative limit.
  static GasMeter Limited(int64_t limit) {
    if (limit < 0) throw sdk::Panic("gas must not be negative");
    return GasMeter(limit, false);
  }

  // What is over the limit stays consumed when sdk::OutOfGas is thrown.
  void Consume(int64_t amount, std::string_view descriptor) {
    if (amount < 0) throw sdk::Panic("gas must not be negative");
    int64_t sum = 0;
    if (__builtin_add_overflow(consumed_, amount, &sum))
      throw sdk::Panic("gas overflow in location: " + std::string(descriptor));
    consumed_ = sum;
    if (IsPastLimit()) throw sdk::OutOfGas(descriptor);
  }
  void Refund(int64_t amount) { consumed_ -= std::min(amount, consumed_); }

  int64_t consumed() const { return consumed_; }
  int64_t consumed_to_limit() const { return IsPastLimit() ? limit_ : consumed_; }
  int64_t remaining() const {
    return infinite_ ? std::numeric_limits<int64_t>::max() : limit_ - consumed_to_limit();
  }
  bool IsPastLimit() const { return !infinite_ && consumed_ > limit_; }
  bool IsOutOfGas() const { return !infinite_ && consumed_ >= limit_; }

 private:
  GasMeter(int64_t limit, bool infinite) : limit_(limit), infinite_(infinite) {}

  int64_t consumed_ = 0;
  int64_t limit_;
  bool infinite_;
};

inline constexpr int64_t kReadCostFlat = 59'000;
inline constexpr int64_t kReadCostPerByte = 17;
inline constexpr int64_t kWriteCostFlat = 24'000;
inline constexpr int64_t kWriteCostPerByte = 14;
inline constexpr int64_t kIteratorNextCostFlat = 1'000;

// Depths are hundredths of a database access.
struct DepthParams {
  int64_t min_get_read = 0;
  int64_t min_set_read = 0;
  int64_t min_write = 0;
  int64_t fixed_get_read = 0;
  int64_t fixed_set_read = 0;
  int64_t fixed_write = 0;
  int64_t iterator_next_flat = kIteratorNextCostFlat;
};

// What tm2 takes as the depth of its tree of `keys` keys.
constexpr int64_t EstimatedDepth(int64_t keys) {
  if (keys <= 1) return 100;
  int64_t bits = 0;
  for (auto rest = static_cast<uint64_t>(keys); rest != 0; rest >>= 1) ++bits;
  return std::max<int64_t>(100, bits * 20);
}

// Prices of store accesses under given parameters.
struct StoreCosts {
  int64_t get = 0;  // of a key that this transaction did not touch before, without its bytes
  int64_t set = 0;  // without the bytes of the value; a deletion has none
  int64_t iterator_next = 0;

  // Throws sdk::Panic where the multiplication overflows.
  static StoreCosts From(const DepthParams& params, int64_t estimated_depth) {
    const auto depth = [&](int64_t fixed, int64_t minimum) {
      return fixed > 0 ? fixed : minimum > 0 ? std::max(estimated_depth, minimum) : estimated_depth;
    };
    return {Scaled(depth(params.fixed_get_read, params.min_get_read), kReadCostFlat),
            Add(Scaled(depth(params.fixed_set_read, params.min_set_read), kReadCostFlat),
                Scaled(depth(params.fixed_write, params.min_write), kWriteCostFlat)),
            params.iterator_next_flat};
  }

 private:
  static int64_t Scaled(int64_t depth, int64_t cost) {
    int64_t product = 0;
    if (__builtin_mul_overflow(depth, cost, &product)) throw sdk::Panic("multiplication overflow");
    return product / 100;
  }
  static int64_t Add(int64_t a, int64_t b) {
    int64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) throw sdk::Panic("addition overflow");
    return sum;
  }
};

}  // namespace blockreplay::keeper::gno
