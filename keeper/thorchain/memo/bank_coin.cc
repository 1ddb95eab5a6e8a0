#include "keeper/thorchain/memo/bank_coin.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "keeper/thorchain/common/legacy_dec.h"
#include "keeper/thorchain/common/status_text.h"
#include "keeper/thorchain/common/text.h"

namespace blockreplay::keeper::thorchain {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool IsDenomChar(char c) {
  return IsLetter(c) || IsDigit(c) || c == '/' || c == ':' || c == '.' || c == '_' || c == '-';
}

bool IsDenom(std::string_view text) {
  return text.size() >= 3 && text.size() <= 128 && IsLetter(text[0]) &&
         std::all_of(text.begin(), text.end(), IsDenomChar);
}

std::string_view Trim(std::string_view text) {
  // Unicode's other spaces make an amount or a denomination invalid anyway, within it or around.
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

size_t CountDigits(std::string_view text) {
  return static_cast<size_t>(std::find_if_not(text.begin(), text.end(), IsDigit) - text.begin());
}

struct DecCoin {
  std::string denom;
  LegacyDec amount;
};

absl::StatusOr<DecCoin> ParseDecCoin(std::string_view text) {
  text = Trim(text);
  // digits, digits.digits or .digits; then spaces; then the denomination.
  size_t amount_size = CountDigits(text);
  if (amount_size < text.size() && text[amount_size] == '.') {
    const size_t places = CountDigits(text.substr(amount_size + 1));
    if (places > 0) amount_size += 1 + places;
  }
  const std::string_view amount_text = text.substr(0, amount_size);
  std::string_view denom = text.substr(amount_size);
  while (!denom.empty() && IsSpace(denom.front())) denom.remove_prefix(1);
  if (amount_text.empty() || !IsDenom(denom)) {
    return Error("invalid decimal coin expression: ", text);
  }
  absl::StatusOr<LegacyDec> amount = LegacyDec::Parse(amount_text);
  if (!amount.ok()) {
    // That error, formatted into another one, tells where it was made.
    return Error("failed to parse decimal coin amount: ", amount_text, ": ", ErrorText(amount),
                 " [cosmos/cosmos-sdk@v0.53.0/types/dec_coin.go:638]");
  }
  return DecCoin{std::string(denom), *amount};
}

absl::Status CheckDistinct(const std::vector<DecCoin>& sorted) {
  for (size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i].denom == sorted[i - 1].denom) {
      return Error("duplicate denomination ", sorted[i].denom);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<BankCoin>> ParseBankCoins(std::string_view text) {
  text = Trim(text);
  std::vector<BankCoin> result;
  if (text.empty()) return result;
  std::vector<DecCoin> coins;
  for (const std::string_view part : Split(text, ',')) {
    absl::StatusOr<DecCoin> coin = ParseDecCoin(part);
    if (!coin.ok()) return coin.status();
    if (!coin->amount.IsZero()) coins.push_back(*std::move(coin));
  }
  std::sort(coins.begin(), coins.end(),
            [](const DecCoin& a, const DecCoin& b) { return a.denom < b.denom; });
  if (absl::Status status = CheckDistinct(coins); !status.ok()) return status;
  for (DecCoin& coin : coins) {
    result.push_back({std::move(coin.denom), coin.amount.TruncateToUint()});
  }
  return result;
}

}  // namespace blockreplay::keeper::thorchain
