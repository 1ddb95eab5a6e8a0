#include "keeper/thorchain/memo/go_number.h"

#include <algorithm>
#include <array>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/cpp_int.hpp>
#include <cstddef>
#include <limits>

#include "keeper/thorchain/common/panic.h"
#include "keeper/thorchain/common/status_text.h"
#include "keeper/thorchain/common/text.h"

namespace blockreplay::keeper::thorchain {
namespace {

namespace mp = boost::multiprecision;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

absl::Status SyntaxError(std::string_view function, std::string_view text) {
  return Error("strconv.", function, ": parsing ", Quote(text), ": invalid syntax");
}

absl::Status RangeError(std::string_view function, std::string_view text) {
  return Error("strconv.", function, ": parsing ", Quote(text), ": value out of range");
}

enum class Scan { kValid, kInvalid, kTooLarge };

// Whichever comes first decides: a character that is no digit, or a digit too many.
Scan ScanDigits(std::string_view text, uint64_t* value) {
  if (text.empty()) return Scan::kInvalid;
  *value = 0;
  for (const char c : text) {
    if (!IsDigit(c)) return Scan::kInvalid;
    const auto digit = static_cast<uint64_t>(c - '0');
    constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
    if (*value > kMax / 10 || *value * 10 > kMax - digit) return Scan::kTooLarge;
    *value = *value * 10 + digit;
  }
  return Scan::kValid;
}

// A binary floating-point number of Go's math/big: mantissa * 2^exponent. Its operations round to
// nearest even; only the final value rounds to zero.
template <unsigned kBits>
using GoFloat = mp::number<mp::cpp_bin_float<kBits, mp::digit_base_2, void, int64_t,
                                             -(int64_t{1} << 40), (int64_t{1} << 40)>,
                           mp::et_off>;
using Factor = GoFloat<128>;
using Square = GoFloat<192>;

// 5^n as big.Float.pow5 computes it at 128 bits: exact up to 5^27, then by squaring with 64 more
// bits. 5^n fits in 128 bits up to n = 55; beyond that the order of rounding matters.
Factor PowerOfFive(uint64_t n) {
  constexpr uint64_t kTable = 27;
  Factor result = 1;
  for (uint64_t i = 0; i < std::min(n, kTable); ++i) result *= 5;
  if (n <= kTable) return result;
  Square factor = 5;
  for (uint64_t rest = n - kTable; rest > 0; rest >>= 1) {
    if ((rest & 1) != 0) {
      // One rounding of the exact product, to the 128 bits of the result.
      result = Factor(GoFloat<320>(result) * GoFloat<320>(factor));
    }
    factor *= factor;
  }
  return result;
}

// mantissa * 2^exponent of a Factor, with an integer mantissa.
struct Scaled {
  mp::cpp_int mantissa;
  int64_t exponent;
};

Scaled Decompose(const Factor& value) {
  int64_t exponent = 0;
  const Factor fraction = mp::frexp(value, &exponent);
  return {mp::cpp_int(mp::ldexp(fraction, 128)), exponent - 128};
}

// Keeps the most significant 64 bits.
void TruncateTo64Bits(mp::cpp_int* mantissa, int64_t* exponent) {
  const auto bits = static_cast<int64_t>(mp::msb(*mantissa)) + 1;
  if (bits <= 64) return;
  *mantissa >>= static_cast<unsigned>(bits - 64);
  *exponent += bits - 64;
}

struct FloatText {
  bool negative = false;
  std::string digits;
  int64_t exponent5 = 0;
  int64_t exponent2 = 0;
};

absl::StatusOr<FloatText> ScanFloat(std::string_view text) {
  FloatText result;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    result.negative = text[0] == '-';
    text.remove_prefix(1);
  }
  int64_t places = 0;
  bool point = false;
  while (!text.empty() && (IsDigit(text[0]) || (text[0] == '.' && !point))) {
    if (text[0] == '.') {
      point = true;
    } else {
      result.digits += text[0];
      places += point ? 1 : 0;
    }
    text.remove_prefix(1);
  }
  if (result.digits.empty()) return Error("number has no digits");
  int64_t exponent = 0;
  bool binary = false;
  if (!text.empty() && (text[0] == 'e' || text[0] == 'E' || text[0] == 'p' || text[0] == 'P')) {
    binary = text[0] == 'p' || text[0] == 'P';
    text.remove_prefix(1);
    std::string exponent_text;
    if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
      if (text[0] == '-') exponent_text = "-";
      text.remove_prefix(1);
    }
    const auto size =
        static_cast<size_t>(std::find_if_not(text.begin(), text.end(), IsDigit) - text.begin());
    if (size == 0) return Error("number has no digits");
    exponent_text += text.substr(0, size);
    text.remove_prefix(size);
    absl::StatusOr<int64_t> parsed = ParseGoInt64(exponent_text);
    if (!parsed.ok()) return parsed.status();
    exponent = *parsed;
  }
  const bool zero = result.digits.find_first_not_of('0') == std::string::npos;
  if (!zero) {
    // Wraps like Go's int64; whatever that gives is out of range below.
    const uint64_t base = static_cast<uint64_t>(-places);
    const uint64_t added = static_cast<uint64_t>(exponent);
    result.exponent5 = static_cast<int64_t>(binary ? base : base + added);
    result.exponent2 = static_cast<int64_t>(base + added);
    const mp::cpp_int mantissa(result.digits.substr(result.digits.find_first_not_of('0')));
    const uint64_t normalized =
        static_cast<uint64_t>(mp::msb(mantissa)) + 1 + static_cast<uint64_t>(result.exponent2);
    const auto exponent2 = static_cast<int64_t>(normalized);
    if (exponent2 < std::numeric_limits<int32_t>::min() ||
        exponent2 > std::numeric_limits<int32_t>::max()) {
      return Error("exponent overflow");
    }
  }
  if (!text.empty()) {
    return Error("expected end of string, found ", QuoteByte(static_cast<unsigned char>(text[0])));
  }
  return result;
}

}  // namespace

absl::StatusOr<int64_t> ParseGoInt64(std::string_view text) {
  std::string_view digits = text;
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  uint64_t magnitude = 0;
  const Scan scan = ScanDigits(digits, &magnitude);
  if (scan == Scan::kInvalid) return SyntaxError("ParseInt", text);
  const uint64_t limit = uint64_t{1} << 63;
  if (scan == Scan::kTooLarge || magnitude > limit || (!negative && magnitude == limit)) {
    return RangeError("ParseInt", text);
  }
  return static_cast<int64_t>(negative ? ~magnitude + 1 : magnitude);
}

absl::StatusOr<uint64_t> ParseGoUint64(std::string_view text) {
  uint64_t value = 0;
  switch (ScanDigits(text, &value)) {
    case Scan::kInvalid:
      return SyntaxError("ParseUint", text);
    case Scan::kTooLarge:
      return RangeError("ParseUint", text);
    case Scan::kValid:
      break;
  }
  return value;
}

absl::StatusOr<Uint> ParseTradeTarget(std::string_view text) {
  const std::string_view unsigned_text =
      text.starts_with('+') || text.starts_with('-') ? text.substr(1) : text;
  if (unsigned_text == "Inf" || unsigned_text == "inf") return Uint();
  const absl::StatusOr<FloatText> scanned = ScanFloat(text);
  if (!scanned.ok()) return scanned.status();
  const size_t first = scanned->digits.find_first_not_of('0');
  if (first == std::string::npos) return Uint();

  mp::cpp_int mantissa(scanned->digits.substr(first));
  int64_t exponent = scanned->exponent2;
  if (scanned->exponent5 > 0) {
    const Scaled power = Decompose(PowerOfFive(static_cast<uint64_t>(scanned->exponent5)));
    mantissa *= power.mantissa;
    exponent += power.exponent;
  } else if (scanned->exponent5 < 0) {
    const uint64_t n = uint64_t{0} - static_cast<uint64_t>(scanned->exponent5);
    const Scaled power = Decompose(PowerOfFive(n));
    // Enough bits that cutting off the quotient and then the float is one cut.
    const unsigned shift = 256;
    mantissa = (mantissa << shift) / power.mantissa;
    exponent -= power.exponent + static_cast<int64_t>(shift);
    if (mantissa.is_zero()) return Uint();
  }
  TruncateTo64Bits(&mantissa, &exponent);

  // The integer part.
  const int64_t bits = static_cast<int64_t>(mp::msb(mantissa)) + 1 + exponent;
  // Go's floats become infinite there, and infinity has no integer part.
  if (bits <= 0 || bits > std::numeric_limits<int32_t>::max()) return Uint();
  if (scanned->negative) throw Panic("overflow: non-positive integer");
  if (bits > 256) {
    throw Panic(StrCat("overflow: integer out of range; got: ", bits, ", max: 256"));
  }
  if (exponent >= 0) {
    mantissa <<= static_cast<unsigned>(exponent);
  } else {
    mantissa >>= static_cast<unsigned>(-exponent);
  }
  std::array<uint64_t, 5> limbs{};
  mp::export_bits(mantissa, limbs.begin(), 64, false);
  return Uint::FromLimbs({limbs[0], limbs[1], limbs[2], limbs[3]});
}

namespace {

constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool IsNewline(char c) { return c == '\n' || c == '\r'; }

absl::Status CorruptBase64(size_t position) {
  return Error("illegal base64 data at input byte ", position);
}

}  // namespace

absl::StatusOr<std::string> DecodeGoBase64(std::string_view text) {
  std::string bytes;
  size_t at = 0;
  const auto skip_newlines = [&] {
    while (at < text.size() && IsNewline(text[at])) ++at;
  };
  while (true) {
    // Four digits give three bytes. Newlines count for nothing but positions.
    uint32_t value = 0;
    size_t count = 0;
    while (count < 4) {
      skip_newlines();
      if (at == text.size()) {
        if (count == 0) return bytes;
        return CorruptBase64(at - count);
      }
      const char c = text[at++];
      const size_t digit = kBase64.find(c);
      if (digit != std::string_view::npos) {
        value = value << 6 | static_cast<uint32_t>(digit);
        ++count;
        continue;
      }
      if (c != '=' || count < 2) return CorruptBase64(at - 1);
      if (count == 2) {
        skip_newlines();
        if (at == text.size()) return CorruptBase64(at);
        if (text[at] != '=') return CorruptBase64(at - 1);
        ++at;
      }
      skip_newlines();
      if (at < text.size()) return CorruptBase64(at);
      bytes += static_cast<char>(value >> (count == 2 ? 4 : 10) & 0xff);
      if (count == 3) bytes += static_cast<char>(value >> 2 & 0xff);
      return bytes;
    }
    bytes += static_cast<char>(value >> 16 & 0xff);
    bytes += static_cast<char>(value >> 8 & 0xff);
    bytes += static_cast<char>(value & 0xff);
  }
}

std::string EncodeBase64(std::string_view bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t value = 0;
    for (size_t j = 0; j < 3; ++j) {
      value = value << 8 | (j < count ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    }
    for (size_t j = 0; j < 4; ++j) {
      text += j <= count ? kBase64[value >> (18 - 6 * j) & 63] : '=';
    }
  }
  return text;
}

}  // namespace blockreplay::keeper::thorchain
