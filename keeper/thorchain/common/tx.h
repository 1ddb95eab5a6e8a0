#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "keeper/thorchain/common/address.h"
#include "keeper/thorchain/common/chain.h"
#include "keeper/thorchain/common/coin.h"

namespace blockreplay::keeper::thorchain {

// The hash of a transaction on any chain, as text. It holds what came in, unchecked.
class TxID {
 public:
  TxID() = default;
  explicit TxID(std::string text) : text_(std::move(text)) {}
  explicit TxID(std::string_view text) : text_(text) {}
  explicit TxID(const char* text) : text_(text) {}

  // 64 characters, 66 after 0x (both upper-cased, so "0X…"), 87 or 88 (kept), or 64 hexadecimal
  // digits, `-` and a number (kept). The status message is the node's.
  static absl::StatusOr<TxID> Parse(std::string_view text);

  const std::string& ToString() const { return text_; }
  bool IsEmpty() const;
  // Sixty-four zeros.
  bool IsBlank() const;
  // Its last eight characters as a big-endian number, made non-negative. 0 if empty, panics if
  // shorter.
  int64_t ToInt64() const;

  // Ignores case, as the node's Equals. For the exact bytes compare ToString().
  friend bool operator==(const TxID& a, const TxID& b);

 private:
  std::string text_;
};

inline constexpr std::string_view kBlankTxID =
    "0000000000000000000000000000000000000000000000000000000000000000";

// A transfer with a memo on any chain.
struct Tx {
  TxID id;
  Chain chain;
  Address from_address;
  Address to_address;
  Coins coins;
  Gas gas;
  std::string memo;

  // The chain is that of the first coin's holder, empty without coins.
  static Tx Make(TxID id, Address from, Address to, Coins coins, Gas gas, std::string memo);
  static Tx MakeRagnarok(const Chain& chain, const Address& from, const Address& to);

  bool IsEmpty() const { return id.IsEmpty(); }
  absl::Status Valid() const;
  // Upper-case hexadecimal SHA-256 over chain, sender, coins, recipient and height.
  std::string Hash(int64_t block_height) const;
  std::string ToString() const;
  // The node's EqualsEx: ids, chain, addresses and memo ignoring case, coins in any order; gas too,
  // whose lists the node sorts in place as a side effect (see GasEqualsAndSort).
  bool EqualsEx(Tx& other);
  bool EqualsExIgnoreGas(const Tx& other) const;
  // id, chain, from, to, coin, memo: the attributes that events start with.
  std::vector<std::pair<std::string, std::string>> ToAttributes() const;
};

}  // namespace blockreplay::keeper::thorchain
