#include "keeper/thorchain/common/coin.h"

#include <algorithm>
#include <cstddef>

#include "keeper/thorchain/common/status_text.h"
#include "keeper/thorchain/common/text.h"

namespace blockreplay::keeper::thorchain {
namespace {

// By the asset's text; coins of one asset keep their order.
void SortByAsset(Coins& coins) {
  if (coins.size() < 2) return;
  std::vector<std::pair<std::string, size_t>> order;
  for (size_t i = 0; i < coins.size(); ++i) order.emplace_back(coins[i].asset.ToString(), i);
  std::sort(order.begin(), order.end());
  Coins sorted;
  for (const auto& [text, index] : order) sorted.push_back(std::move(coins[index]));
  coins = std::move(sorted);
}

}  // namespace

absl::StatusOr<Coin> Coin::Parse(std::string_view text) {
  const auto error = [text](std::string_view cause) {
    return Error("invalid coin string: ", text, cause);
  };
  const std::vector<std::string_view> parts = Split(text, ' ');
  if (parts.size() != 2) return error("");
  const absl::StatusOr<Uint> amount = Uint::Parse(parts[0]);
  if (!amount.ok()) return error(StrCat(": ", ErrorText(amount)));
  absl::StatusOr<Asset> asset = Asset::Parse(parts[1]);
  if (!asset.ok()) return error(StrCat(": ", ErrorText(asset)));
  return Coin(*std::move(asset), *amount);
}

absl::Status Coin::Valid() const {
  if (asset.IsEmpty()) return Error("denom cannot be empty");
  if (amount.IsZero()) return Error("amount cannot be zero");
  return absl::OkStatus();
}

std::string Coin::ToString() const { return StrCat(amount.ToString(), " ", asset.ToString()); }

absl::Status Coins::Valid() const {
  for (const Coin& coin : *this) {
    if (absl::Status status = coin.Valid(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

bool Coins::IsEmpty() const {
  return std::all_of(begin(), end(), [](const Coin& coin) { return coin.IsEmpty(); });
}

bool Coins::EqualsEx(const Coins& other) const {
  if (size() != other.size()) return false;
  if (size() == 1) return front() == other.front();
  Coins a = *this;
  Coins b = other;
  return GasEqualsAndSort(a, b);
}

bool Coins::Contains(const Coin& coin) const { return std::find(begin(), end(), coin) != end(); }

Coin Coins::GetCoin(const Asset& asset) const {
  const auto found =
      std::find_if(begin(), end(), [&](const Coin& coin) { return coin.asset == asset; });
  return found == end() ? Coin() : *found;
}

Coins Coins::Distinct() const {
  Coins result;
  for (const Coin& coin : *this) {
    if (!result.Contains(coin)) result.push_back(coin);
  }
  return result;
}

Coins Coins::Add(const Coins& coins) const {
  Coins result = *this;
  for (const Coin& coin : coins) {
    const auto found = std::find_if(result.begin(), result.end(),
                                    [&](const Coin& c) { return c.asset == coin.asset; });
    if (found == result.end()) {
      result.push_back(coin);
    } else {
      found->amount += coin.amount;
    }
  }
  return result;
}

Coins Coins::SafeSub(const Coins& coins) const {
  Coins result = *this;
  for (const Coin& coin : coins) {
    const auto found = std::find_if(result.begin(), result.end(),
                                    [&](const Coin& c) { return c.asset == coin.asset; });
    if (found != result.end()) found->amount = thorchain::SafeSub(found->amount, coin.amount);
  }
  return result;
}

bool Coins::HasSynthetic() const {
  return std::any_of(begin(), end(), [](const Coin& coin) { return coin.asset.synth; });
}

Coins Coins::NoneEmpty() const {
  Coins result;
  for (const Coin& coin : *this) {
    if (!coin.IsEmpty()) result.push_back(coin);
  }
  return result;
}

std::string Coins::ToString() const {
  std::string result;
  for (const Coin& coin : *this) {
    if (!result.empty()) result += ", ";
    result += coin.ToString();
  }
  return result;
}

bool GasEqualsAndSort(Coins& a, Coins& b) {
  if (a.size() != b.size()) return false;
  SortByAsset(a);
  SortByAsset(b);
  return std::equal(a.begin(), a.end(), b.begin());
}

std::string Fee::ToString() const { return StrCat(pool_deduct.ToUint64(), ": ", coins.ToString()); }

}  // namespace blockreplay::keeper::thorchain
