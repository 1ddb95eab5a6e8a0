#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace blockreplay::keeper::thorchain {

// An unsigned 256-bit integer with the rules of cosmossdk.io/math v1.5 `Uint`: a result below zero
// or above 2^256-1 panics (see Panic) with the node's text, division truncates. On the wire and in
// the store it is its decimal text. The node also knows an absent value ("nil"); here that is zero,
// which encodes the same.
class Uint {
 public:
  constexpr Uint() = default;
  constexpr Uint(uint64_t value) : limbs_{value, 0, 0, 0} {}  // NOLINT: conversion is the point

  static constexpr Uint Max() { return FromLimbs({~0ULL, ~0ULL, ~0ULL, ~0ULL}); }
  // Least significant limb first.
  static constexpr Uint FromLimbs(const std::array<uint64_t, 4>& limbs) {
    Uint result;
    result.limbs_ = limbs;
    return result;
  }

  // The node's ParseUint: an optional sign, then base 10, or with the prefixes 0x, 0o, 0b or 0 the
  // base they name, with `_` between digits where Go allows it. The status message is the node's
  // error text.
  static absl::StatusOr<Uint> Parse(std::string_view text);
  // The text of a value on the wire or in a store, by the same rules as Parse. Empty bytes are an
  // absent value, i.e. zero.
  static absl::StatusOr<Uint> Unmarshal(std::string_view bytes);

  bool IsZero() const { return (limbs_[0] | limbs_[1] | limbs_[2] | limbs_[3]) == 0; }
  bool IsUint64() const { return (limbs_[1] | limbs_[2] | limbs_[3]) == 0; }
  // Panics if it doesn't fit.
  uint64_t ToUint64() const;
  // The low 64 bits, as big.Int.Uint64 and, reinterpreted, big.Int.Int64 give for large values.
  uint64_t LowUint64() const { return limbs_[0]; }
  // Nearest float64 and float32, ties to even.
  double ToDouble() const;
  float ToFloat() const;

  int BitLength() const;
  const std::array<uint64_t, 4>& limbs() const { return limbs_; }

  std::string ToString() const;

  friend constexpr bool operator==(const Uint& a, const Uint& b) = default;
  friend constexpr std::strong_ordering operator<=>(const Uint& a, const Uint& b) {
    for (size_t i = 4; i-- > 0;) {
      if (a.limbs_[i] != b.limbs_[i]) return a.limbs_[i] <=> b.limbs_[i];
    }
    return std::strong_ordering::equal;
  }

  // All of these panic where the node does.
  friend Uint operator+(const Uint& a, const Uint& b);
  friend Uint operator-(const Uint& a, const Uint& b);
  friend Uint operator*(const Uint& a, const Uint& b);
  friend Uint operator/(const Uint& a, const Uint& b);
  friend Uint operator%(const Uint& a, const Uint& b);
  Uint& operator+=(const Uint& other) { return *this = *this + other; }
  Uint& operator-=(const Uint& other) { return *this = *this - other; }
  Uint& operator*=(const Uint& other) { return *this = *this * other; }
  Uint& operator/=(const Uint& other) { return *this = *this / other; }

 private:
  std::array<uint64_t, 4> limbs_{};
};

// One whole unit: amounts are in 1e-8.
inline constexpr uint64_t kOne = 100'000'000;
inline constexpr uint64_t kMaxBasisPoints = 10'000;

// a - b, or zero where that would be negative.
Uint SafeSub(const Uint& a, const Uint& b);
// part / total of allocation, rounded half up; the product may exceed 256 bits, the result may not.
// Zero if any of them is zero.
Uint GetUncappedShare(const Uint& part, const Uint& total, const Uint& allocation);
// The same with part capped at total.
Uint GetSafeShare(const Uint& part, const Uint& total, const Uint& allocation);
// Zero for negative values.
Uint SafeUintFromInt64(int64_t value);
Uint Sum(const std::vector<Uint>& values);
// Middle value, or the truncated mean of the two middle ones; zero without values.
Uint Median(std::vector<Uint> values);
int64_t Median(std::vector<int64_t> values);
// An error if the weights sum to zero; panics if the sizes differ.
absl::StatusOr<Uint> WeightedMean(const std::vector<Uint>& values,
                                  const std::vector<Uint>& weights);
// Truncates amt (1e-8) to `decimals` places; 0 and 8 or more leave it.
Uint RoundToDecimals(const Uint& amount, int64_t decimals);
// Keeps the first `digits` decimal digits and zeroes the rest.
uint64_t RoundSignificantFigures(uint64_t number, int64_t digits);
// amount * 10^(to - from); division truncates.
absl::StatusOr<Uint> ConvertDecimals(const Uint& amount, int from, int to);

}  // namespace blockreplay::keeper::thorchain
