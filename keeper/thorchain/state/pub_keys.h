#pragma once

// What bech32 public keys stand for, remembered: the same few hundred come again and again.

#include <string_view>
#include <vector>

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

// NewPubKey would accept it.
bool IsValidPubKey(const Keeper& k, std::string_view text);
// The account of the key.
Result<AccAddress> ThorAddress(const Keeper& k, const PubKey& key);
// Those of the texts that are public keys, in order.
std::vector<PubKey> ToPubKeys(const Keeper& k, const std::vector<std::string>& texts);

// An account as text.
inline const std::string& ToText(const Keeper& k, const AccAddress& address) {
  return k.addresses->ToText(address.bytes());
}

}  // namespace blockreplay::keeper::thorchain
