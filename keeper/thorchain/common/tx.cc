#include "keeper/thorchain/common/tx.h"

#include <algorithm>
#include <cctype>

#include "keeper/thorchain/common/digest.h"
#include "keeper/thorchain/common/panic.h"
#include "keeper/thorchain/common/status_text.h"
#include "keeper/thorchain/common/text.h"

namespace blockreplay::keeper::thorchain {
namespace {

constexpr size_t kMaxMemoSize = 250;

bool IsHexDigit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// 64 hexadecimal digits, a dash, a number: a Cosmos transaction and one of its messages.
bool IsIndexedHash(std::string_view text) {
  if (text.size() < 66 || text[64] != '-') return false;
  const std::string_view digest = text.substr(0, 64);
  const std::string_view index = text.substr(65);
  return std::all_of(digest.begin(), digest.end(), IsHexDigit) &&
         std::all_of(index.begin(), index.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

absl::StatusOr<TxID> TxID::Parse(std::string_view text) {
  if (IsIndexedHash(text)) return TxID(text);
  switch (text.size()) {
    case 64:
      break;
    case 66:
      if (!text.starts_with("0x")) {
        return Error("txid error: must be 66 characters (got 66)");
      }
      break;
    case 87:
    case 88:
      return TxID(text);  // Solana's base58 distinguishes case
    default:
      return Error("txid error: must be 64 characters (got ", text.size(), ")");
  }
  return TxID(ToUpper(text));
}

bool TxID::IsEmpty() const { return thorchain::IsBlank(text_); }

bool TxID::IsBlank() const { return text_ == kBlankTxID; }

int64_t TxID::ToInt64() const {
  if (IsEmpty()) return 0;
  if (text_.size() < 8) throw Panic(StrCat("tx id too short: ", text_));
  uint64_t value = 0;
  for (size_t i = text_.size() - 8; i < text_.size(); ++i) {
    value = value << 8 | static_cast<unsigned char>(text_[i]);
  }
  return static_cast<int64_t>(value & 0x7FFFFFFFFFFFFFFFULL);
}

bool operator==(const TxID& a, const TxID& b) {
  return a.text_ == b.text_ || EqualFold(a.text_, b.text_);
}

Tx Tx::Make(TxID id, Address from, Address to, Coins coins, Gas gas, std::string memo) {
  Tx tx;
  tx.id = std::move(id);
  if (!coins.empty()) tx.chain = coins.front().asset.GetChain();
  tx.from_address = std::move(from);
  tx.to_address = std::move(to);
  tx.coins = std::move(coins);
  tx.gas = std::move(gas);
  tx.memo = std::move(memo);
  return tx;
}

Tx Tx::MakeRagnarok(const Chain& chain, const Address& from, const Address& to) {
  // The amounts only have to be there.
  const Coin blank(Asset{.chain = chain, .symbol = "BLANK", .ticker = "BLANK"}, Uint(1));
  Tx tx;
  tx.id = TxID(kBlankTxID);
  tx.chain = chain;
  tx.from_address = from;
  tx.to_address = to;
  tx.coins = {blank};
  tx.gas = {blank};
  tx.memo = "Ragnarok";
  return tx;
}

absl::Status Tx::Valid() const {
  const auto error = [](std::string_view text) { return Error(text); };
  if (id.IsEmpty()) return error("Tx ID cannot be empty");
  if (from_address.IsEmpty()) return error("from address cannot be empty");
  if (to_address.IsEmpty()) return error("to address cannot be empty");
  if (chain.IsEmpty()) return error("chain cannot be empty");
  if (coins.empty()) return error("must have at least 1 coin");
  if (absl::Status status = coins.Valid(); !status.ok()) return status;
  if (!chain.IsTHORChain() && gas.empty()) return error("must have at least 1 gas coin");
  if (absl::Status status = gas.Valid(); !status.ok()) return status;
  if (memo.size() > kMaxMemoSize) {
    return error(StrCat("memo must not exceed ", kMaxMemoSize, " bytes: ", memo.size()));
  }
  return absl::OkStatus();
}

std::string Tx::Hash(int64_t block_height) const {
  return UpperHex(Sha256(StrCat(chain.ToString(), "|", from_address.ToString(), "|",
                                coins.ToString(), "|", to_address.ToString(), "|", block_height)));
}

std::string Tx::ToString() const {
  // The node prints gas as a list of the coins in brackets: Gas has no text form of its own.
  std::string gas_text;
  for (const Coin& coin : gas) {
    if (!gas_text.empty()) gas_text += ' ';
    gas_text += coin.ToString();
  }
  return StrCat(id.ToString(), ": ", from_address.ToString(), " ==> ", to_address.ToString(),
                " (Memo: ", memo, ") ", coins.ToString(), " (gas: [", gas_text, "])");
}

bool Tx::EqualsExIgnoreGas(const Tx& other) const {
  return id == other.id && chain == other.chain && from_address == other.from_address &&
         to_address == other.to_address && coins.EqualsEx(other.coins) &&
         (memo == other.memo || EqualFold(memo, other.memo));
}

bool Tx::EqualsEx(Tx& other) {
  return id == other.id && chain == other.chain && from_address == other.from_address &&
         to_address == other.to_address && coins.EqualsEx(other.coins) &&
         GasEqualsAndSort(gas, other.gas) && (memo == other.memo || EqualFold(memo, other.memo));
}

std::vector<std::pair<std::string, std::string>> Tx::ToAttributes() const {
  return {
      {"id", id.ToString()},         {"chain", chain.ToString()}, {"from", from_address.ToString()},
      {"to", to_address.ToString()}, {"coin", coins.ToString()},  {"memo", memo}};
}

}  // namespace blockreplay::keeper::thorchain
