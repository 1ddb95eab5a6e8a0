#include "keeper/gno/coins.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

#include "keeper/sdk/panic.h"

namespace blockreplay::keeper::gno {
namespace {

// The size of the space character that `text` begins with, 0 if there is none. Multi-byte ones are
// few: U+0085, U+00A0, U+1680, U+2000..200A, U+2028, U+2029, U+202F, U+205F, U+3000.
size_t SpaceAtFront(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  if (text.empty()) return 0;
  if (byte(0) == ' ' || (byte(0) >= 9 && byte(0) <= 13)) return 1;
  if (byte(0) < 0x80) return 0;
  if (text.size() >= 2 && byte(0) == 0xc2) return byte(1) == 0x85 || byte(1) == 0xa0 ? 2 : 0;
  if (text.size() < 3) return 0;
  if (byte(0) == 0xe1) return byte(1) == 0x9a && byte(2) == 0x80 ? 3 : 0;
  if (byte(0) == 0xe3) return byte(1) == 0x80 && byte(2) == 0x80 ? 3 : 0;
  if (byte(0) != 0xe2) return 0;
  if (byte(1) == 0x80) {
    const bool space = (byte(2) >= 0x80 && byte(2) <= 0x8a) || byte(2) == 0xa8 || byte(2) == 0xa9 ||
                       byte(2) == 0xaf;
    return space ? 3 : 0;
  }
  return byte(1) == 0x81 && byte(2) == 0x9f ? 3 : 0;
}

size_t SpaceAtBack(std::string_view text) {
  for (size_t size = 1; size <= 3 && size <= text.size(); ++size) {
    if (SpaceAtFront(text.substr(text.size() - size)) == size) return size;
  }
  return 0;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

int64_t Sum(const Coin& a, const Coin& b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a.amount, b.amount, &sum))
    throw sdk::Panic("coin add overflow/underflow: " + ToString(a) + ", " + ToString(b));
  return sum;
}

int DigitCount(int64_t value) {
  int digits = value < 0 ? 2 : 1;
  for (value /= 10; value != 0; value /= 10) ++digits;
  return digits;
}

}  // namespace

std::string_view TrimSpace(std::string_view text) {
  while (const size_t size = SpaceAtFront(text)) text.remove_prefix(size);
  while (const size_t size = SpaceAtBack(text)) text.remove_suffix(size);
  return text;
}

bool IsValidDenom(std::string_view denom) {
  if (denom.size() < 3 || denom.size() > kMaxDenomSize) return false;
  if ((denom[0] < 'a' || denom[0] > 'z') && denom[0] != '/') return false;
  return std::all_of(denom.begin() + 1, denom.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || IsDigit(c) || c == '_' || c == '.' || c == ':' || c == '/' ||
           c == '-';
  });
}

bool Coin::IsValid() const { return IsValidDenom(denom) && amount >= 0; }

std::optional<Coin> Coin::Parse(std::string_view text) {
  text = TrimSpace(text);
  constexpr size_t kMostDigits = 20;
  if (text.size() > kMaxDenomSize + kMostDigits) return std::nullopt;
  size_t digits = 0;
  while (digits < text.size() && IsDigit(text[digits])) ++digits;
  Coin coin;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, coin.amount);
  if (digits == 0 || error != std::errc()) return std::nullopt;
  coin.denom = text.substr(digits);
  // [[:space:]] of a regular expression: ASCII only.
  while (!coin.denom.empty() &&
         (coin.denom[0] == ' ' || (coin.denom[0] >= '\t' && coin.denom[0] <= '\r')))
    coin.denom.remove_prefix(1);
  if (!IsValidDenom(coin.denom)) return std::nullopt;
  return coin;
}

std::optional<Coin> Coin::FromField(std::string_view text) {
  if (text.empty()) return Coin{};
  return Parse(text);
}

std::optional<Coins> Coins::Parse(std::string_view text) {
  text = TrimSpace(text);
  std::optional<Coins> parsed(std::in_place);
  if (text.empty()) return parsed;
  CoinVector& coins = parsed->coins_;
  while (true) {
    const size_t comma = text.find(',');
    const std::optional<Coin> coin = Coin::Parse(text.substr(0, comma));
    if (!coin.has_value()) return std::nullopt;
    coins.push_back(*coin);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  if (coins.size() > 1) {
    std::sort(coins.begin(), coins.end(),
              [](const Coin& a, const Coin& b) { return a.denom < b.denom; });
  }
  if (!parsed->IsValid()) parsed.reset();
  return parsed;
}

bool Coins::IsValid() const {
  for (size_t i = 0; i < coins_.size(); ++i) {
    if (!IsValidDenom(coins_[i].denom) || coins_[i].amount <= 0) return false;
    if (i > 0 && coins_[i].denom <= coins_[i - 1].denom) return false;
  }
  return true;
}

bool Coins::IsZero() const {
  return std::all_of(begin(), end(), [](const Coin& coin) { return coin.amount == 0; });
}

bool Coins::IsAllPositive() const {
  return !empty() && std::all_of(begin(), end(), [](const Coin& coin) { return coin.amount > 0; });
}

int64_t Coins::AmountOf(std::string_view denom) const {
  if (!IsValidDenom(denom)) throw sdk::Panic("invalid denom: " + std::string(denom));
  for (const Coin& coin : coins_) {
    if (coin.denom == denom) return coin.amount;
  }
  return 0;
}

bool Coins::IsAllGte(const Coins& other) const {
  return std::all_of(other.begin(), other.end(), [&](const Coin& coin) {
    return !empty() && coin.amount <= AmountOf(coin.denom);
  });
}

Coins Coins::AddUnsafe(const Coins& other) const {
  Coins sum;
  const auto append = [&](const Coin& coin) {
    if (coin.amount != 0) sum.coins_.push_back(coin);
  };
  const Coin* a = begin();
  const Coin* b = other.begin();
  while (a != end() && b != other.end()) {
    if (a->denom < b->denom) {
      append(*a++);
    } else if (b->denom < a->denom) {
      append(*b++);
    } else {
      append({a->denom, Sum(*a, *b)});
      ++a;
      ++b;
    }
  }
  for (; a != end(); ++a) append(*a);
  for (; b != other.end(); ++b) append(*b);
  return sum;
}

Coins Coins::Add(const Coins& other) const {
  Coins sum = AddUnsafe(other);
  if (!sum.IsValid()) {
    throw sdk::Panic("invalid result: " + ToString() + " + " + other.ToString() + " = " +
                     sum.ToString());
  }
  return sum;
}

Coins Coins::SubUnsafe(const Coins& other) const {
  Coins negative;
  for (const Coin& coin : other) {
    // Negating the smallest number leaves it as it is, there as here.
    negative.coins_.push_back(
        {coin.denom, static_cast<int64_t>(-static_cast<uint64_t>(coin.amount))});
  }
  return AddUnsafe(negative);
}

size_t TextSize(const Coin& coin) {
  return coin.amount == 0 ? 0 : static_cast<size_t>(DigitCount(coin.amount)) + coin.denom.size();
}

char* ToText(const Coin& coin, char* out) {
  if (coin.amount == 0) return out;
  out = std::to_chars(out, out + std::numeric_limits<int64_t>::digits10 + 2, coin.amount).ptr;
  if (!coin.denom.empty()) std::memcpy(out, coin.denom.data(), coin.denom.size());
  return out + coin.denom.size();
}

std::string ToString(const Coin& coin) {
  std::string text(TextSize(coin) + 24, '\0');
  text.resize(static_cast<size_t>(ToText(coin, text.data()) - text.data()));
  return text;
}

size_t Coins::TextSize() const {
  if (empty()) return 0;
  size_t size = coins_.size() - 1;
  for (const Coin& coin : coins_) size += gno::TextSize(coin);
  return size;
}

char* Coins::ToText(char* out) const {
  for (size_t i = 0; i < coins_.size(); ++i) {
    if (i > 0) *out++ = ',';
    out = gno::ToText(coins_[i], out);
  }
  return out;
}

std::string Coins::ToString() const {
  std::string text(TextSize() + 24, '\0');
  text.resize(static_cast<size_t>(ToText(text.data()) - text.data()));
  return text;
}

}  // namespace blockreplay::keeper::gno
