#include "keeper/sdk/int.h"

#include "keeper/sdk/panic.h"
#include "keeper/sdk/str_cat.h"

namespace blockreplay::keeper::sdk {
namespace {

constexpr size_t kMaxBits = 256;
// Longer than any 256-bit number with a sign.
constexpr size_t kMaxDigits = 79;

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

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
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  if (digits.empty() || digits.size() > kMaxDigits) {
    return absl::InvalidArgumentError("not an integer of 256 bits");
  }
  Value value = 0;
  for (const char c : digits) {
    if (!IsDigit(c)) return absl::InvalidArgumentError("not a decimal integer");
    value = value * 10 + (c - '0');
  }
  if (value != 0 && msb(value) >= kMaxBits) {
    return absl::InvalidArgumentError("not an integer of 256 bits");
  }
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
