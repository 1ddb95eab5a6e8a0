#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace blockreplay::keeper::gno {

inline constexpr std::string_view kNativeDenom = "ugnot";
inline constexpr size_t kMaxDenomSize = 1 + 256 + 1 + 16;

// tm2/pkg/std, coin.go. Denominations are views: of the bytes that the coin was parsed from.
struct Coin {
  std::string_view denom;
  int64_t amount = 0;

  // A valid denomination and an amount that is not negative.
  bool IsValid() const;
  // Surrounding space, digits, space, a denomination. Nothing where the original refuses.
  static std::optional<Coin> Parse(std::string_view text);
  // As a field: empty is the zero coin.
  static std::optional<Coin> FromField(std::string_view text);
  friend bool operator==(const Coin&, const Coin&) = default;
};

bool IsValidDenom(std::string_view denom);

// A vector that needs no memory of its own for the one or two coins that there nearly always are.
class CoinVector {
 public:
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const Coin* begin() const { return more_.empty() ? few_.data() : more_.data(); }
  const Coin* end() const { return begin() + size_; }
  Coin* begin() { return more_.empty() ? few_.data() : more_.data(); }
  Coin* end() { return begin() + size_; }
  const Coin& operator[](size_t i) const { return begin()[i]; }
  void clear() {
    size_ = 0;
    more_.clear();
  }
  void push_back(const Coin& coin) {
    if (size_ < few_.size()) {
      few_[size_] = coin;
    } else {
      if (more_.empty()) more_.assign(few_.begin(), few_.end());
      more_.push_back(coin);
    }
    ++size_;
  }
  friend bool operator==(const CoinVector& a, const CoinVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  size_t size_ = 0;
  std::array<Coin, 2> few_;
  std::vector<Coin> more_;  // all of them, if they are more than a few
};

// Sorted by denomination, each at most once.
class Coins {
 public:
  Coins() = default;
  explicit Coins(const Coin& coin) { coins_.push_back(coin); }

  // Comma-separated; sorts. Nothing where the original refuses: repeated denominations, amounts
  // that are not positive.
  static std::optional<Coins> Parse(std::string_view text);

  bool empty() const { return coins_.empty(); }
  size_t size() const { return coins_.size(); }
  const Coin& operator[](size_t i) const { return coins_[i]; }
  const Coin* begin() const { return coins_.begin(); }
  const Coin* end() const { return coins_.end(); }
  void clear() { coins_.clear(); }
  // The caller keeps the order.
  void Append(const Coin& coin) { coins_.push_back(coin); }

  bool IsValid() const;
  // True for no coins.
  bool IsZero() const;
  // False for no coins.
  bool IsAllPositive() const;
  int64_t AmountOf(std::string_view denom) const;
  // Each of `other` is covered.
  bool IsAllGte(const Coins& other) const;
  // Throw sdk::Panic on overflow and (Add) where the sum is not valid.
  Coins Add(const Coins& other) const;
  Coins AddUnsafe(const Coins& other) const;
  Coins SubUnsafe(const Coins& other) const;

  size_t TextSize() const;
  // Writes TextSize() characters and returns where they end.
  char* ToText(char* out) const;
  std::string ToString() const;
  friend bool operator==(const Coins&, const Coins&) = default;

 private:
  CoinVector coins_;
};

// Of a coin; empty for an amount of zero.
size_t TextSize(const Coin& coin);
char* ToText(const Coin& coin, char* out);
std::string ToString(const Coin& coin);

// Without the space at both ends that unicode.IsSpace of Go knows.
std::string_view TrimSpace(std::string_view text);

}  // namespace blockreplay::keeper::gno
