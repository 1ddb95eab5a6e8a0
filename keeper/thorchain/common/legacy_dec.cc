#include "keeper/thorchain/common/legacy_dec.h"

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cstddef>
#include <limits>

#include "keeper/thorchain/common/panic.h"
#include "keeper/thorchain/common/status_text.h"
#include "keeper/thorchain/common/uint.h"

namespace blockreplay::keeper::thorchain {
namespace {

// Room for a product of two units, or for units times 10^36.
using Wide = boost::multiprecision::number<boost::multiprecision::cpp_int_backend<
    640, 640, boost::multiprecision::signed_magnitude, boost::multiprecision::unchecked, void>>;

constexpr size_t kPlaces = 18;
constexpr int64_t kUnit = 1'000'000'000'000'000'000;

const Wide& Limit() {
  static const Wide kLimit = (Wide(1) << 256) * kUnit - 1;
  return kLimit;
}

// Divides by 10^18, half to even.
Wide Round(const Wide& value) {
  const bool negative = value < 0;
  Wide quotient;
  Wide remainder;
  boost::multiprecision::divide_qr(Wide(negative ? -value : value), Wide(kUnit), quotient,
                                   remainder);
  const int64_t half = kUnit / 2;
  if (remainder > half || (remainder == half && bit_test(quotient, 0))) ++quotient;
  return negative ? Wide(-quotient) : quotient;
}

Uint ToUint(const Wide& value) {
  if (value < 0) throw Panic("overflow: non-positive integer");
  std::array<uint64_t, 10> limbs{};
  boost::multiprecision::export_bits(value, limbs.begin(), 64, false);
  if (limbs[4] != 0) throw Panic("NewIntFromBigInt() out of bound");
  return Uint::FromLimbs({limbs[0], limbs[1], limbs[2], limbs[3]});
}

int64_t ToInt64(const Wide& value) {
  if (value > std::numeric_limits<int64_t>::max() || value < std::numeric_limits<int64_t>::min()) {
    throw Panic("Int64() out of bound");
  }
  return value.convert_to<int64_t>();
}

}  // namespace

struct LegacyDecMath {
  static Wide Get(const LegacyDec& dec) {
    Wide value;
    boost::multiprecision::import_bits(value, dec.units_.begin(), dec.units_.end(), 64, false);
    return dec.negative_ ? Wide(-value) : value;
  }

  static LegacyDec Make(const Wide& value) {
    LegacyDec dec;
    dec.negative_ = value < 0;
    const Wide magnitude = dec.negative_ ? Wide(-value) : value;
    if (magnitude > Limit()) throw Panic("Int overflow");
    std::array<uint64_t, 10> limbs{};
    boost::multiprecision::export_bits(magnitude, limbs.begin(), 64, false);
    std::copy_n(limbs.begin(), dec.units_.size(), dec.units_.begin());
    return dec;
  }

  static Wide FromUint(const Uint& value) {
    Wide result;
    boost::multiprecision::import_bits(result, value.limbs().begin(), value.limbs().end(), 64,
                                       false);
    return result;
  }
};

LegacyDec::LegacyDec(int64_t value) { *this = LegacyDecMath::Make(Wide(value) * kUnit); }

LegacyDec::LegacyDec(const Uint& value) {
  *this = LegacyDecMath::Make(LegacyDecMath::FromUint(value) * kUnit);
}

absl::StatusOr<LegacyDec> LegacyDec::Parse(std::string_view text) {
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative) rest.remove_prefix(1);
  if (rest.empty()) return Error("decimal string cannot be empty");
  const size_t point = rest.find('.');
  std::string digits(rest.substr(0, point));
  size_t places = 0;
  if (point != std::string_view::npos) {
    const std::string_view fraction = rest.substr(point + 1);
    if (fraction.find('.') != std::string_view::npos) return Error("invalid decimal string");
    places = fraction.size();
    if (places == 0 || digits.empty()) return Error("invalid decimal length");
    digits += fraction;
  }
  if (places > kPlaces) {
    return Error("value '", rest, "' exceeds max precision by ",
                 static_cast<int64_t>(kPlaces) - static_cast<int64_t>(places),
                 " decimal places: max precision ", kPlaces);
  }
  digits.append(kPlaces - places, '0');
  // A sign may still stand here.
  const std::string_view unsigned_digits =
      digits[0] == '+' || digits[0] == '-' ? std::string_view(digits).substr(1) : digits;
  const bool inner_minus = digits[0] == '-';
  if (!std::all_of(unsigned_digits.begin(), unsigned_digits.end(),
                   [](char c) { return c >= '0' && c <= '9'; })) {
    return Error("failed to set decimal string with base 10: ", digits);
  }
  Wide value;
  for (const char c : unsigned_digits) {
    value = value * 10 + (c - '0');
    if (value > Limit()) return Error("out of range: invalid decimal string");
  }
  return LegacyDecMath::Make(negative != inner_minus ? Wide(-value) : value);
}

absl::StatusOr<LegacyDec> LegacyDec::Unmarshal(std::string_view bytes) {
  if (bytes.empty()) return LegacyDec();
  std::string_view digits = bytes;
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  const bool is_plain =
      !digits.empty() && (digits == "0" || digits.front() != '0') &&
      std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!is_plain) {
    // Go reads literals such as 0x10 and 1_0 too. Nobody writes them: those of 256 bits will do.
    const bool has_sign = digits.starts_with('-') || digits.starts_with('+');
    const absl::StatusOr<Uint> literal = Uint::Unmarshal(digits);
    if (digits.empty() || has_sign || !literal.ok()) {
      return Error("math/big: cannot unmarshal a decimal into a *big.Int");
    }
    const Wide value(literal->ToString());
    return LegacyDecMath::Make(negative ? Wide(-value) : value);
  }
  Wide value;
  for (const char c : digits) {
    value = value * 10 + (c - '0');
    if (value > Limit()) return Error("decimal out of range");
  }
  return LegacyDecMath::Make(negative ? Wide(-value) : value);
}

std::string LegacyDec::Marshal() const { return LegacyDecMath::Get(*this).str(); }

bool LegacyDec::IsZero() const {
  return std::all_of(units_.begin(), units_.end(), [](uint64_t limb) { return limb == 0; });
}

LegacyDec operator+(const LegacyDec& a, const LegacyDec& b) {
  return LegacyDecMath::Make(LegacyDecMath::Get(a) + LegacyDecMath::Get(b));
}

LegacyDec operator-(const LegacyDec& a, const LegacyDec& b) {
  return LegacyDecMath::Make(LegacyDecMath::Get(a) - LegacyDecMath::Get(b));
}

LegacyDec operator*(const LegacyDec& a, const LegacyDec& b) {
  return LegacyDecMath::Make(Round(LegacyDecMath::Get(a) * LegacyDecMath::Get(b)));
}

LegacyDec operator/(const LegacyDec& a, const LegacyDec& b) {
  if (b.IsZero()) throw Panic("division by zero");
  return LegacyDecMath::Make(Round(LegacyDecMath::Get(a) * kUnit * kUnit / LegacyDecMath::Get(b)));
}

LegacyDec LegacyDec::operator-() const {
  LegacyDec result = *this;
  result.negative_ = !negative_ && !IsZero();
  return result;
}

Uint LegacyDec::TruncateToUint() const { return ToUint(LegacyDecMath::Get(*this) / kUnit); }
Uint LegacyDec::RoundToUint() const { return ToUint(Round(LegacyDecMath::Get(*this))); }
int64_t LegacyDec::TruncateToInt64() const { return ToInt64(LegacyDecMath::Get(*this) / kUnit); }
int64_t LegacyDec::RoundToInt64() const { return ToInt64(Round(LegacyDecMath::Get(*this))); }

std::string LegacyDec::ToString() const {
  std::string digits = Marshal();
  if (negative_) digits.erase(0, 1);
  if (digits.size() <= kPlaces) digits.insert(0, kPlaces + 1 - digits.size(), '0');
  digits.insert(digits.size() - kPlaces, ".");
  return negative_ ? "-" + digits : digits;
}

std::strong_ordering operator<=>(const LegacyDec& a, const LegacyDec& b) {
  if (a.negative_ != b.negative_) {
    return a.negative_ ? std::strong_ordering::less : std::strong_ordering::greater;
  }
  const LegacyDec& low = a.negative_ ? b : a;
  const LegacyDec& high = a.negative_ ? a : b;
  return std::lexicographical_compare_three_way(low.units_.rbegin(), low.units_.rend(),
                                                high.units_.rbegin(), high.units_.rend());
}

}  // namespace blockreplay::keeper::thorchain
