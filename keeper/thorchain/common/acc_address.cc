#include "keeper/thorchain/common/acc_address.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "keeper/thorchain/common/bech32.h"
#include "keeper/thorchain/common/digest.h"
#include "keeper/thorchain/common/status_text.h"
#include "keeper/thorchain/common/text.h"

namespace blockreplay::keeper::thorchain {

absl::StatusOr<AccAddress> AccAddress::FromBech32(std::string_view text, const Network& network) {
  if (IsBlank(text)) return Error("empty address string is not allowed");
  absl::StatusOr<CosmosBech32> decoded = DecodeCosmosBech32(text);
  if (!decoded.ok()) return decoded.status();
  if (decoded->prefix != network.account_prefix) {
    return Error("invalid Bech32 prefix; expected ", network.account_prefix, ", got ",
                 decoded->prefix);
  }
  // The node's own check of lengths: accounts, contracts.
  if (decoded->bytes.size() != kAccountSize && decoded->bytes.size() != kContractSize) {
    return Error("invalid address");
  }
  return AccAddress(std::move(decoded->bytes));
}

absl::StatusOr<AccAddress> AccAddress::FromHex(std::string_view text) {
  if (text.empty()) {
    return Error("decoding address from hex string failed: empty address");
  }
  const auto bad = std::find_if_not(text.begin(), text.end(),
                                    [](char c) { return IsHex(std::string_view(&c, 1)); });
  if (bad != text.end()) {
    // Go's hex decoder prints the byte as a character.
    const auto byte = static_cast<unsigned char>(*bad);
    return Error("encoding/hex: invalid byte: ", absl::StrFormat("U+%04X ", byte), QuoteByte(byte));
  }
  if (text.size() % 2 != 0) return Error("encoding/hex: odd length hex string");
  return AccAddress(HexToBytes(text));
}

std::string AccAddress::ToString(const Network& network) const {
  if (bytes_.empty()) return "";
  return EncodeBech32Bytes(network.account_prefix, bytes_);
}

AccAddress ModuleAddress(std::string_view module_name) {
  return AccAddress(Sha256(module_name).substr(0, 20));
}

}  // namespace blockreplay::keeper::thorchain
