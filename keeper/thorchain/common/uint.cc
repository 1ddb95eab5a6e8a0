#include "keeper/thorchain/common/uint.h"

#include <algorithm>
#include <bit>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstddef>

#include "absl/status/status.h"
#include "keeper/thorchain/common/panic.h"
#include "keeper/thorchain/common/status_text.h"
#include "keeper/thorchain/common/text.h"

namespace blockreplay::keeper::thorchain {
namespace {

__extension__ using Uint128 = unsigned __int128;
using Wide = std::array<uint64_t, 9>;  // a product and a carry
using BigUint = boost::multiprecision::number<boost::multiprecision::cpp_int_backend<
    576, 576, boost::multiprecision::unsigned_magnitude, boost::multiprecision::unchecked, void>>;

constexpr uint64_t kDecimalChunk = 10'000'000'000'000'000'000ULL;  // the largest power in 64 bits
constexpr size_t kDecimalChunkDigits = 19;

template <size_t N>
int BitLengthOf(const std::array<uint64_t, N>& limbs) {
  for (size_t i = N; i-- > 0;) {
    if (limbs[i] != 0) return static_cast<int>(i) * 64 + 64 - std::countl_zero(limbs[i]);
  }
  return 0;
}

std::string OutOfRange(int bits) {
  return StrCat("integer out of range; got: ", bits, ", max: 256");
}

[[noreturn]] void PanicOutOfRange(int bits) { throw Panic(StrCat("overflow: ", OutOfRange(bits))); }

template <size_t N>
Uint Narrow(const std::array<uint64_t, N>& limbs) {
  const int bits = BitLengthOf(limbs);
  if (bits > 256) PanicOutOfRange(bits);
  return Uint::FromLimbs({limbs[0], limbs[1], limbs[2], limbs[3]});
}

Wide Multiply(const std::array<uint64_t, 4>& a, const std::array<uint64_t, 4>& b) {
  Wide result{};
  for (size_t i = 0; i < 4; ++i) {
    if (a[i] == 0) continue;
    uint64_t carry = 0;
    for (size_t j = 0; j < 4; ++j) {
      const Uint128 t = static_cast<Uint128>(a[i]) * b[j] + result[i + j] + carry;
      result[i + j] = static_cast<uint64_t>(t);
      carry = static_cast<uint64_t>(t >> 64);
    }
    result[i + 4] = carry;
  }
  return result;
}

template <size_t N>
uint64_t DivideInPlace(std::array<uint64_t, N>& limbs, uint64_t divisor) {
  uint64_t remainder = 0;
  for (size_t i = N; i-- > 0;) {
    const Uint128 t = static_cast<Uint128>(remainder) << 64 | limbs[i];
    limbs[i] = static_cast<uint64_t>(t / divisor);
    remainder = static_cast<uint64_t>(t % divisor);
  }
  return remainder;
}

template <size_t N>
BigUint ToBig(const std::array<uint64_t, N>& limbs) {
  BigUint result;
  boost::multiprecision::import_bits(result, limbs.begin(), limbs.end(), 64, false);
  return result;
}

Wide FromBig(const BigUint& value) {
  Wide result{};
  boost::multiprecision::export_bits(value, result.begin(), 64, false);
  return result;
}

template <size_t N>
Wide Widen(const std::array<uint64_t, N>& limbs) {
  Wide result{};
  std::copy(limbs.begin(), limbs.end(), result.begin());
  return result;
}

template <size_t N>
Wide Divide(const std::array<uint64_t, N>& a, const Uint& b) {
  if (b.IsUint64()) {
    std::array<uint64_t, N> quotient = a;
    DivideInPlace(quotient, b.LowUint64());
    return Widen(quotient);
  }
  return FromBig(ToBig(a) / ToBig(b.limbs()));
}

// The digits of an integer literal as big.Int.SetString(text, 0) reads them.
struct Literal {
  bool ok = false;
  bool negative = false;
  unsigned base = 10;
  std::string_view digits;  // with separators
};

Literal ParseLiteral(std::string_view text) {
  Literal literal;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    literal.negative = text[0] == '-';
    text.remove_prefix(1);
  }
  // A separator must follow a digit or a base prefix.
  bool separator_allowed = false;
  bool octal_by_zero = false;
  if (text.size() >= 2 && text[0] == '0') {
    separator_allowed = true;
    const char kind = text[1];
    if (kind == 'b' || kind == 'B') {
      literal.base = 2;
    } else if (kind == 'o' || kind == 'O') {
      literal.base = 8;
    } else if (kind == 'x' || kind == 'X') {
      literal.base = 16;
    } else {
      literal.base = 8;
      octal_by_zero = true;
    }
    text.remove_prefix(octal_by_zero ? 1 : 2);
  }
  literal.digits = text;
  size_t digits = 0;
  for (const char c : text) {
    if (c == '_') {
      if (!separator_allowed) return {};
      separator_allowed = false;
      continue;
    }
    unsigned digit = 99;
    if (c >= '0' && c <= '9') digit = static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'z') digit = static_cast<unsigned>(c - 'a') + 10;
    if (c >= 'A' && c <= 'Z') digit = static_cast<unsigned>(c - 'A') + 10;
    if (digit >= literal.base) return {};
    separator_allowed = true;
    ++digits;
  }
  const bool ends_with_separator = !text.empty() && text.back() == '_';
  literal.ok = !ends_with_separator && (digits > 0 || octal_by_zero);
  return literal;
}

unsigned DigitValue(char c) {
  if (c <= '9') return static_cast<unsigned>(c - '0');
  return static_cast<unsigned>(c | 0x20) - 'a' + 10;
}

// Bits of a number too large for Uint. Beyond any honest length the digits are only counted.
int LargeBitLength(const Literal& literal) {
  constexpr size_t kExactDigits = 4096;
  if (literal.digits.size() > kExactDigits) {
    return static_cast<int>(std::log2(literal.base) * static_cast<double>(literal.digits.size()));
  }
  boost::multiprecision::cpp_int value = 0;
  for (const char c : literal.digits) {
    if (c != '_') value = value * literal.base + DigitValue(c);
  }
  return static_cast<int>(boost::multiprecision::msb(value)) + 1;
}

absl::StatusOr<Uint> ToUint(const Literal& literal) {
  std::array<uint64_t, 5> limbs{};
  bool overflow = false;
  for (const char c : literal.digits) {
    if (c == '_') continue;
    uint64_t carry = DigitValue(c);
    for (uint64_t& limb : limbs) {
      const Uint128 t = static_cast<Uint128>(limb) * literal.base + carry;
      limb = static_cast<uint64_t>(t);
      carry = static_cast<uint64_t>(t >> 64);
    }
    if (limbs[4] != 0) {
      overflow = true;
      break;
    }
  }
  const Uint value = Uint::FromLimbs({limbs[0], limbs[1], limbs[2], limbs[3]});
  if (literal.negative && (overflow || !value.IsZero())) {
    return Error("non-positive integer");
  }
  if (overflow) return Error(OutOfRange(LargeBitLength(literal)));
  return value;
}

}  // namespace

absl::StatusOr<Uint> Uint::Parse(std::string_view text) {
  const Literal literal = ParseLiteral(text);
  if (!literal.ok) {
    return Error("cannot convert ", Quote(text), " to big.Int");
  }
  return ToUint(literal);
}

absl::StatusOr<Uint> Uint::Unmarshal(std::string_view bytes) {
  if (bytes.empty()) return Uint();
  const Literal literal = ParseLiteral(bytes);
  if (!literal.ok) {
    return Error("math/big: cannot unmarshal ", Quote(bytes), " into a *big.Int");
  }
  return ToUint(literal);
}

uint64_t Uint::ToUint64() const {
  if (!IsUint64()) throw Panic("Uint64() out of bound");
  return limbs_[0];
}

int Uint::BitLength() const { return BitLengthOf(limbs_); }

namespace {

// The top 64 bits with every lower bit gathered in the last one, so that one conversion rounds
// correctly; and the power of two they count.
std::pair<uint64_t, int> Leading(const Uint& value) {
  const int bits = value.BitLength();
  const auto& limbs = value.limbs();
  if (bits <= 64) return {limbs[0], 0};
  const int shift = bits - 64;
  const auto word = static_cast<size_t>(shift / 64);
  const int offset = shift % 64;
  uint64_t top = limbs[word] >> offset;
  if (offset != 0) top |= limbs[word + 1] << (64 - offset);
  bool sticky = offset != 0 && (limbs[word] << (64 - offset)) != 0;
  for (size_t i = 0; i < word; ++i) sticky = sticky || limbs[i] != 0;
  return {top | (sticky ? 1 : 0), shift};
}

}  // namespace

double Uint::ToDouble() const {
  const auto [top, shift] = Leading(*this);
  return std::ldexp(static_cast<double>(top), shift);
}

float Uint::ToFloat() const {
  const auto [top, shift] = Leading(*this);
  return std::ldexp(static_cast<float>(top), shift);
}

std::string Uint::ToString() const {
  if (IsUint64()) return std::to_string(limbs_[0]);
  std::array<uint64_t, 4> rest = limbs_;
  std::string reversed;
  while (BitLengthOf(rest) > 64) {
    uint64_t chunk = DivideInPlace(rest, kDecimalChunk);
    for (size_t i = 0; i < kDecimalChunkDigits; ++i) {
      reversed += static_cast<char>('0' + chunk % 10);
      chunk /= 10;
    }
  }
  for (uint64_t chunk = rest[0]; chunk != 0; chunk /= 10) {
    reversed += static_cast<char>('0' + chunk % 10);
  }
  return {reversed.rbegin(), reversed.rend()};
}

Uint operator+(const Uint& a, const Uint& b) {
  std::array<uint64_t, 5> result{};
  uint64_t carry = 0;
  for (size_t i = 0; i < 4; ++i) {
    const Uint128 t = static_cast<Uint128>(a.limbs_[i]) + b.limbs_[i] + carry;
    result[i] = static_cast<uint64_t>(t);
    carry = static_cast<uint64_t>(t >> 64);
  }
  result[4] = carry;
  return Narrow(result);
}

Uint operator-(const Uint& a, const Uint& b) {
  if (a < b) throw Panic("overflow: non-positive integer");
  Uint result;
  uint64_t borrow = 0;
  for (size_t i = 0; i < 4; ++i) {
    const Uint128 t = static_cast<Uint128>(a.limbs_[i]) - b.limbs_[i] - borrow;
    result.limbs_[i] = static_cast<uint64_t>(t);
    borrow = static_cast<uint64_t>(t >> 64) & 1;
  }
  return result;
}

Uint operator*(const Uint& a, const Uint& b) {
  if (a.IsUint64() && b.IsUint64()) {
    const Uint128 t = static_cast<Uint128>(a.limbs_[0]) * b.limbs_[0];
    return Uint::FromLimbs({static_cast<uint64_t>(t), static_cast<uint64_t>(t >> 64), 0, 0});
  }
  return Narrow(Multiply(a.limbs_, b.limbs_));
}

Uint operator/(const Uint& a, const Uint& b) {
  if (b.IsZero()) throw Panic("division by zero");
  if (a.IsUint64() && b.IsUint64()) return Uint(a.limbs_[0] / b.limbs_[0]);
  return Narrow(Divide(a.limbs_, b));
}

Uint operator%(const Uint& a, const Uint& b) {
  if (b.IsZero()) throw Panic("division-by-zero");
  if (b.IsUint64()) {
    std::array<uint64_t, 4> quotient = a.limbs_;
    return Uint(DivideInPlace(quotient, b.limbs_[0]));
  }
  return Narrow(FromBig(ToBig(a.limbs_) % ToBig(b.limbs_)));
}

Uint SafeSub(const Uint& a, const Uint& b) { return b > a ? Uint() : a - b; }

Uint GetUncappedShare(const Uint& part, const Uint& total, const Uint& allocation) {
  if (part.IsZero() || total.IsZero() || allocation.IsZero()) return Uint();
  if (part == total) return allocation;
  Wide numerator = Multiply(allocation.limbs(), part.limbs());
  uint64_t carry = 0;
  for (size_t i = 0; i < numerator.size(); ++i) {
    const uint64_t low = i < 4 ? total.limbs()[i] >> 1 : 0;
    const uint64_t half = low | (i < 3 ? total.limbs()[i + 1] << 63 : 0);
    const Uint128 t = static_cast<Uint128>(numerator[i]) + half + carry;
    numerator[i] = static_cast<uint64_t>(t);
    carry = static_cast<uint64_t>(t >> 64);
  }
  return Narrow(Divide(numerator, total));
}

Uint GetSafeShare(const Uint& part, const Uint& total, const Uint& allocation) {
  return GetUncappedShare(std::min(part, total), total, allocation);
}

Uint SafeUintFromInt64(int64_t value) {
  return value < 0 ? Uint() : Uint(static_cast<uint64_t>(value));
}

Uint Sum(const std::vector<Uint>& values) {
  Uint sum;
  for (const Uint& value : values) sum += value;
  return sum;
}

Uint Median(std::vector<Uint> values) {
  if (values.empty()) return Uint();
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  if (values.size() % 2 != 0) return values[middle];
  return (values[middle - 1] + values[middle]) / Uint(2);
}

int64_t Median(std::vector<int64_t> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  if (values.size() % 2 != 0) return values[middle];
  // Wraps like Go's int64.
  const uint64_t sum =
      static_cast<uint64_t>(values[middle - 1]) + static_cast<uint64_t>(values[middle]);
  return static_cast<int64_t>(sum) / 2;
}

absl::StatusOr<Uint> WeightedMean(const std::vector<Uint>& values,
                                  const std::vector<Uint>& weights) {
  const Uint total = Sum(weights);
  if (total.IsZero()) return Error("total weight is zero");
  if (values.size() != weights.size()) {
    throw Panic("number of values and weights do not match");
  }
  Uint weighted;
  for (size_t i = 0; i < values.size(); ++i) weighted += values[i] * weights[i];
  return weighted / total;
}

namespace {

Uint PowerOfTen(int64_t exponent) {
  Uint result = 1;
  for (int64_t i = 0; i < exponent; ++i) result *= 10;
  return result;
}

}  // namespace

Uint RoundToDecimals(const Uint& amount, int64_t decimals) {
  constexpr int64_t kDecimals = 8;
  if (decimals == 0 || decimals >= kDecimals) return amount;
  const Uint unit = PowerOfTen(kDecimals - decimals);
  return amount / unit * unit;
}

uint64_t RoundSignificantFigures(uint64_t number, int64_t digits) {
  if (number == 0) return 0;
  int64_t magnitude = 0;
  for (uint64_t rest = number; rest != 0; rest /= 10) ++magnitude;
  if (magnitude <= digits) return number;
  uint64_t divisor = 1;
  for (int64_t i = 0; i < magnitude - digits; ++i) divisor *= 10;  // wraps like Go's uint64
  if (divisor == 0) throw Panic("runtime error: integer divide by zero");
  return number / divisor * divisor;
}

absl::StatusOr<Uint> ConvertDecimals(const Uint& amount, int from, int to) {
  if (from < 0 || to < 0) return Error("decimals must be positive");
  if (from > to) {
    const int exponent = from - to;
    return exponent > 77 ? Uint() : amount / PowerOfTen(exponent);
  }
  return amount * PowerOfTen(to - from);
}

}  // namespace blockreplay::keeper::thorchain
