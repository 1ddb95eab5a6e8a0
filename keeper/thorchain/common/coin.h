#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "keeper/thorchain/common/asset.h"
#include "keeper/thorchain/common/uint.h"

namespace blockreplay::keeper::thorchain {

// An amount of an asset, in 1e-8. `decimals` travels along and isn't compared.
struct Coin {
  Asset asset;
  Uint amount;
  int64_t decimals = 0;

  Coin() = default;
  Coin(Asset a, Uint n) : asset(std::move(a)), amount(n) {}

  // "<amount> <asset>"; the status message is the node's.
  static absl::StatusOr<Coin> Parse(std::string_view text);

  absl::Status Valid() const;
  bool IsEmpty() const { return asset.IsEmpty() || amount.IsZero(); }
  bool IsNative() const { return asset.IsNative(); }
  bool IsRune() const { return asset.IsRune(); }
  bool IsTCY() const { return asset.IsTCY(); }

  // "<amount> <asset>".
  std::string ToString() const;

  friend bool operator==(const Coin& a, const Coin& b) {
    return a.asset == b.asset && a.amount == b.amount;
  }
};

// A list of coins in the order given; also the node's Gas. The same asset may appear twice.
class Coins : public std::vector<Coin> {
 public:
  using std::vector<Coin>::vector;

  absl::Status Valid() const;
  // No coin, or only empty ones.
  bool IsEmpty() const;
  // Equal after sorting both by asset text: the order doesn't matter.
  bool EqualsEx(const Coins& other) const;
  // Asset and amount are equal.
  bool Contains(const Coin& coin) const;
  // The first coin of that asset, else an empty one.
  Coin GetCoin(const Asset& asset) const;
  Coins Distinct() const;
  // Adds to the first coin of the same asset, appends what has none.
  Coins Add(const Coins& coins) const;
  // Subtracts from the first coin of the same asset, to zero at least; others are ignored.
  Coins SafeSub(const Coins& coins) const;
  bool HasSynthetic() const;
  Coins NoneEmpty() const;
  // "<amount> <asset>, …".
  std::string ToString() const;
};

// The node's Gas.Equals compares like EqualsEx, and sorts both operands by asset text in place: a
// caller whose list is stored later must see that order.
bool GasEqualsAndSort(Coins& a, Coins& b);

using Gas = Coins;

struct Fee {
  Coins coins;
  Uint pool_deduct;

  // "<pool deduct>: <coins>".
  std::string ToString() const;
};

}  // namespace blockreplay::keeper::thorchain
