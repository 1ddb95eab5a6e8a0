#include "keeper/sdk/int.h"

#include "keeper/sdk/panic.h"
#include "keeper/sdk/str_cat.h"

namespace blockreplay::keeper::sdk {
namespace {

constexpr size_t kMaxBits = 256;
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// More than any base for what is no digit of one.
unsigned DigitValue(char c) {
  constexpr unsigned kNoDigit = 99;
  if (IsDigit(c)) return static_cast<unsigned>(c - '0');
  return IsLetter(c) ? static_cast<unsigned>((c | 0x20) - 'a') + 10 : kNoDigit;
}

}  // namespace

Int Int::FromUint64(uint64_t value) {
  Int result;
  result.value_ = value;
  return result;
}

Int Int::FromLimbs(const std::array<uint64_t, 4>& limbs) {
  Int result;
  boost::multiprecision::import_bits(result.value_, limbs.begin(), limbs.end(), 64, false);
  return result;
}

std::array<uint64_t, 4> Int::Limbs() const {
  std::array<uint64_t, 4> limbs{};
  if (!value_.is_zero()) {
    boost::multiprecision::export_bits(Value(abs(value_)), limbs.begin(), 64, false);
  }
  return limbs;
}

absl::StatusOr<Int> Int::Unmarshal(std::string_view bytes) {
  if (bytes.empty()) return Int();
  std::string_view digits = bytes;
  const bool negative = digits.front() == '-';
  if (negative || digits.front() == '+') digits.remove_prefix(1);
  unsigned base = 10;
  // A separator stands between digits, or behind the prefix of the base.
  bool separator_allowed = false;
  bool has_digits = false;
  if (digits.size() >= 2 && digits.front() == '0') {
    separator_allowed = true;
    const char kind = static_cast<char>(digits[1] | 0x20);
    base = kind == 'b' ? 2 : kind == 'x' ? 16 : 8;
    has_digits = base == 8 && kind != 'o';
    digits.remove_prefix(has_digits ? 1 : 2);
  }
  Value value = 0;
  for (const char c : digits) {
    if (c == '_') {
      if (!separator_allowed) return absl::InvalidArgumentError("misplaced separator in a number");
      separator_allowed = false;
      continue;
    }
    const unsigned digit = DigitValue(c);
    if (digit >= base) return absl::InvalidArgumentError("not an integer");
    separator_allowed = true;
    has_digits = true;
    value = value * base + digit;
    if (value != 0 && msb(value) >= kMaxBits) {
      return absl::InvalidArgumentError("not an integer of 256 bits");
    }
  }
  if (!has_digits || bytes.back() == '_') return absl::InvalidArgumentError("not an integer");
  Int result;
  result.value_ = negative ? Value(-value) : value;
  return result;
}

Int Int::Checked(Value value) {
  if (!value.is_zero() && msb(Value(abs(value))) >= kMaxBits) throw Panic("Int overflow");
  Int result;
  result.value_ = std::move(value);
  return result;
}

std::string ToString(const Coins& coins) {
  std::string text;
  for (const Coin& coin : coins) {
    if (!text.empty()) text.push_back(',');
    text += coin.ToString();
  }
  return text;
}

bool IsValidDenom(std::string_view denom) {
  if (denom.size() < 3 || denom.size() > 128 || !IsLetter(denom.front())) return false;
  for (const char c : denom) {
    if (!IsLetter(c) && !IsDigit(c) && c != '/' && c != ':' && c != '.' && c != '_' && c != '-') {
      return false;
    }
  }
  return true;
}

bool IsValid(const Coins& coins) {
  for (size_t i = 0; i < coins.size(); ++i) {
    if (!IsValidDenom(coins[i].denom) || !coins[i].amount.IsPositive()) return false;
    if (i > 0 && coins[i].denom <= coins[i - 1].denom) return false;
  }
  return true;
}

}  // namespace blockreplay::keeper::sdk
