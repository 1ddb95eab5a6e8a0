#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "keeper/thorchain/common/uint.h"

namespace blockreplay::keeper::thorchain {

// A signed decimal fraction with 18 places and the rules of cosmossdk.io/math v1.5 `LegacyDec`:
// products and quotients are rounded half to even in the last place, results beyond
// +-(2^256 * 10^18 - 1) units panic. On the wire and in the store it is the decimal text of its
// units of 1e-18.
class LegacyDec {
 public:
  LegacyDec() = default;
  explicit LegacyDec(int64_t value);
  explicit LegacyDec(const Uint& value);

  // Digits with an optional minus sign and at most 18 decimal places. The status message is the
  // node's.
  static absl::StatusOr<LegacyDec> Parse(std::string_view text);
  // The text of its units, by the rules of Uint::Parse and with a sign. Empty bytes are zero.
  static absl::StatusOr<LegacyDec> Unmarshal(std::string_view bytes);
  std::string Marshal() const;

  bool IsZero() const;
  bool IsNegative() const { return negative_; }
  bool IsPositive() const { return !negative_ && !IsZero(); }

  friend LegacyDec operator+(const LegacyDec& a, const LegacyDec& b);
  friend LegacyDec operator-(const LegacyDec& a, const LegacyDec& b);
  friend LegacyDec operator*(const LegacyDec& a, const LegacyDec& b);
  friend LegacyDec operator/(const LegacyDec& a, const LegacyDec& b);
  LegacyDec operator-() const;

  // Without the fraction. Panic if negative (a Uint can't be), or if it doesn't fit.
  Uint TruncateToUint() const;
  Uint RoundToUint() const;
  int64_t TruncateToInt64() const;
  // Half to even.
  int64_t RoundToInt64() const;

  // Always with 18 places.
  std::string ToString() const;

  friend bool operator==(const LegacyDec& a, const LegacyDec& b) = default;
  friend std::strong_ordering operator<=>(const LegacyDec& a, const LegacyDec& b);

 private:
  friend struct LegacyDecMath;

  // The magnitude in units, least significant limb first. Zero is not negative.
  std::array<uint64_t, 5> units_{};
  bool negative_ = false;
};

}  // namespace blockreplay::keeper::thorchain
