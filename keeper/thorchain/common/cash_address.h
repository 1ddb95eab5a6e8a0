#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace blockreplay::keeper::thorchain {

// Bitcoin Cash's address format with 20-byte hashes.
struct CashAddress {
  bool is_script = false;
  std::string hash;
};

// With or without "prefix:"; without it letters may be of mixed case. As in bchutil any type byte
// but that of scripts counts as a public key hash.
std::optional<CashAddress> DecodeCashAddress(std::string_view text, std::string_view prefix);
// Without the prefix.
std::string EncodeCashAddress(const CashAddress& address, std::string_view prefix);

}  // namespace blockreplay::keeper::thorchain
