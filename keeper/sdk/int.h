#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "boost/multiprecision/cpp_int.hpp"

namespace blockreplay::keeper::sdk {

// A signed integer with the rules of cosmossdk.io/math v1.5 `Int`: results beyond 256 bits panic.
// Decimal text on the wire; an absent value is zero.
class Int {
 public:
  Int() = default;
  Int(int64_t value) : value_(value) {}  // NOLINT: conversion is the point
  static Int FromUint64(uint64_t value);
  // Non-negative, least significant limb first.
  static Int FromLimbs(const std::array<uint64_t, 4>& limbs);
  // Of the absolute value.
  std::array<uint64_t, 4> Limbs() const;

  // As Go's big.Int reads text: an optional sign; prefixes 0b, 0o or 0, and 0x for other bases;
  // underscores between digits. At most 256 bits. Empty bytes are zero.
  static absl::StatusOr<Int> Unmarshal(std::string_view bytes);
  std::string ToString() const { return value_.str(); }

  bool IsZero() const { return value_.is_zero(); }
  bool IsNegative() const { return value_ < 0; }
  bool IsPositive() const { return value_ > 0; }

  friend Int operator+(const Int& a, const Int& b) { return Checked(a.value_ + b.value_); }
  friend Int operator-(const Int& a, const Int& b) { return Checked(a.value_ - b.value_); }
  friend bool operator==(const Int& a, const Int& b) { return a.value_ == b.value_; }
  friend bool operator<(const Int& a, const Int& b) { return a.value_ < b.value_; }
  friend bool operator>(const Int& a, const Int& b) { return b < a; }
  friend bool operator<=(const Int& a, const Int& b) { return !(b < a); }
  friend bool operator>=(const Int& a, const Int& b) { return !(a < b); }

 private:
  using Value = boost::multiprecision::number<boost::multiprecision::cpp_int_backend<
      320, 320, boost::multiprecision::signed_magnitude, boost::multiprecision::unchecked, void>>;
  static Int Checked(Value value);
  Value value_;
};

// An amount of a bank denomination.
struct Coin {
  std::string denom;
  Int amount;

  Coin() = default;
  Coin(std::string d, Int a) : denom(std::move(d)), amount(std::move(a)) {}
  // "<amount><denom>".
  std::string ToString() const { return amount.ToString() + denom; }
  friend bool operator==(const Coin&, const Coin&) = default;
};

// Coins as cosmos-sdk types.Coins: valid ones are sorted by denomination, without duplicates, all
// positive.
using Coins = std::vector<Coin>;

// "" for none, else joined by commas.
std::string ToString(const Coins& coins);
// types.Coins.IsValid.
bool IsValid(const Coins& coins);
// A letter, then 2 to 127 letters, digits or `/:._-`.
bool IsValidDenom(std::string_view denom);

}  // namespace blockreplay::keeper::sdk
