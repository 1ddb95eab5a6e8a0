#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "keeper/thorchain/common/acc_address.h"
#include "keeper/thorchain/common/chain.h"
#include "keeper/thorchain/common/network.h"

namespace blockreplay::keeper::thorchain {

// An address on any chain, as text. It holds what came in, unchecked; Parse checks.
class Address {
 public:
  Address() = default;
  explicit Address(std::string text) : text_(std::move(text)) {}
  explicit Address(std::string_view text) : text_(text) {}
  explicit Address(const char* text) : text_(text) {}

  // Accepts what any supported chain's rules accept (of the legacy Bitcoin-like forms, those of
  // the given network); the empty text gives the empty address. Keeps the text as it is. The status
  // message is the node's.
  static absl::StatusOr<Address> Parse(std::string_view text, const Network& network);

  const std::string& ToString() const { return text_; }
  // Empty, or white space only.
  bool IsEmpty() const;
  bool IsNoop() const;
  // True if the text is an address of that chain; EVM chains can't be told apart, and a chain
  // without a rule (SUI's is one) accepts everything.
  bool IsChain(const Chain& chain) const;
  // The first chain it fits, in the node's order: ETH for every EVM address; empty if none.
  Chain GetChain() const;
  // The network its form belongs to, seen from `current`; `current` where that can't be told.
  ChainNetwork GetNetwork(const Chain& chain, const Network& current) const;
  // The bech32 prefix of `chain` on `network` starts the text (the node's Chain.IsValidAddress).
  bool HasPrefixOf(const Chain& chain, const Network& network) const;

  absl::StatusOr<AccAddress> ToAccAddress(const Network& network) const;
  // The account that holds on behalf of an address of another chain: the 20 bytes of an EVM
  // address, or the data of a bech32 one under our prefix.
  absl::StatusOr<AccAddress> ToMappedAccAddress(const Network& network) const;

  // A BCH address of the new format (any network).
  bool IsValidBCHAddress() const;
  // BCH: the new format of a new or legacy address of that network.
  absl::StatusOr<Address> ToNewBCHFormat(const Network& network) const;
  // ZEC: the "tex" form of a pay-to-public-key-hash address.
  absl::StatusOr<Address> ToTexAddress(const Network& network) const;

  // Ignores case, as the node's Equals. For the exact bytes compare ToString().
  friend bool operator==(const Address& a, const Address& b);

 private:
  std::string text_;
};

inline constexpr std::string_view kNoopAddress = "noop";
inline constexpr std::string_view kEvmNullAddress = "0x0000000000000000000000000000000000000000";
inline constexpr std::string_view kGaiaZeroAddress =
    "cosmos100000000000000000000000000000000708mjz";

}  // namespace blockreplay::keeper::thorchain
