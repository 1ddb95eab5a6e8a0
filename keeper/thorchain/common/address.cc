#include "keeper/thorchain/common/address.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "keeper/thorchain/common/base58.h"
#include "keeper/thorchain/common/bech32.h"
#include "keeper/thorchain/common/bitcoin_address.h"
#include "keeper/thorchain/common/digest.h"
#include "keeper/thorchain/common/panic.h"
#include "keeper/thorchain/common/status_text.h"
#include "keeper/thorchain/common/text.h"

namespace blockreplay::keeper::thorchain {
namespace {

bool IsAddressChar(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == ':' ||
         c == '_';
}

// 40 hexadecimal digits, with or without 0x.
bool IsEvmHex(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  return text.size() == 40 && IsHex(text);
}

bool IsXrpAddress(std::string_view text) {
  PanicAtWideCharacter(text, Base58Alphabet::kXrp);
  const std::optional<std::string> decoded = DecodeBase58Check(text, Base58Alphabet::kXrp);
  return decoded && decoded->size() == 21 && (*decoded)[0] == '\0';
}

// The node doesn't verify the checksum.
bool IsTronAddress(std::string_view text) {
  if (text.size() != 34 || text[0] != 'T') return false;
  const std::optional<std::string> decoded = DecodeBase58(text);
  return decoded && decoded->size() == 25 && (*decoded)[0] == 0x41;
}

bool IsSolAddress(std::string_view text) {
  const std::optional<std::string> decoded = DecodeBase58(text);
  return decoded && decoded->size() == 32;
}

bool IsSuiAddress(std::string_view text) {
  return text.size() == 66 && text.starts_with("0x") && IsHex(text.substr(2));
}

// A variable-length number of a Cardano pointer: its size, or nothing if it doesn't end.
std::optional<size_t> PointerPartSize(std::string_view bytes) {
  for (size_t i = 0; i < bytes.size(); ++i) {
    if ((static_cast<unsigned char>(bytes[i]) & 0x80) == 0) return i + 1;
  }
  return std::nullopt;
}

// The rules of gouroboros v0.157, which looks at the sizes only. Byron addresses start otherwise.
bool IsCardanoPayload(std::string_view bytes) {
  constexpr size_t kHashSize = 28;
  if (bytes.empty()) return false;
  const unsigned type = static_cast<unsigned char>(bytes[0]) >> 4;
  bytes.remove_prefix(1);
  if (type == 8) return false;
  const bool has_payment = type <= 7;
  const bool has_stake_hash = type <= 3 || type == 14 || type == 15;
  const bool has_pointer = type == 4 || type == 5;
  for (const bool has_hash : {has_payment, has_stake_hash}) {
    if (!has_hash) continue;
    if (bytes.size() < kHashSize) return false;
    bytes.remove_prefix(kHashSize);
  }
  for (int part = 0; has_pointer && part < 3; ++part) {
    const std::optional<size_t> size = PointerPartSize(bytes);
    if (!size) return false;
    bytes.remove_prefix(*size);
  }
  return true;
}

bool IsAdaAddress(std::string_view text) {
  if (!text.starts_with("addr1") && !text.starts_with("addr_test1")) return false;
  if (ToLower(text) != text) {
    const std::optional<std::string> decoded = DecodeBase58(text);
    return decoded && IsCardanoPayload(*decoded);
  }
  const absl::StatusOr<Bech32Text> decoded = DecodeBech32(text, text.size());
  if (!decoded.ok()) return false;
  const absl::StatusOr<std::string> bytes = GroupsToBytes(decoded->data);
  return bytes.ok() && IsCardanoPayload(*bytes);
}

// Bitcoin-like forms that bech32 doesn't cover; networks accept their own only.
bool IsHashAddress(std::string_view text, const Network& network) {
  if (network.IsMockNet()) {
    return IsBitcoinHashAddress(text, kBtcTestNet3) || IsBitcoinHashAddress(text, kLtcTestNet4) ||
           DecodeBchAddress(text, kBchTestNet3).has_value() ||
           DecodeBchAddress(text, kBchRegression).has_value() ||
           IsBitcoinHashAddress(text, kDogeTestNet3) || IsBitcoinHashAddress(text, kDogeRegression);
  }
  return IsBitcoinHashAddress(text, kBtcMainNet) || IsBitcoinHashAddress(text, kLtcMainNet) ||
         DecodeBchAddress(text, kBchMainNet).has_value() ||
         IsBitcoinHashAddress(text, kDogeMainNet);
}

// The prefix of a bech32 address of at most 90 characters with either checksum; empty if it isn't
// one.
std::string Bech32Prefix(std::string_view text) {
  absl::StatusOr<Bech32Text> decoded = DecodeBech32(text, kBech32MaxLength);
  return decoded.ok() ? std::move(decoded->prefix) : "";
}

}  // namespace

absl::StatusOr<Address> Address::Parse(std::string_view text, const Network& network) {
  if (text.empty()) return Address();
  const bool known =
      std::all_of(text.begin(), text.end(), IsAddressChar) &&
      (IsTronAddress(text) || IsAdaAddress(text) || IsEvmHex(text) ||
       DecodeBech32(text, kBech32MaxLength).ok() || IsXrpAddress(text) || IsSolAddress(text) ||
       DecodeZcashAddress(text).has_value() || IsSuiAddress(text) || IsHashAddress(text, network));
  if (!known) {
    return Error("address format not supported: ", text);
  }
  return Address(text);
}

bool Address::IsEmpty() const { return IsBlank(text_); }

bool Address::IsNoop() const { return EqualFold(text_, kNoopAddress); }

bool Address::IsChain(const Chain& chain) const {
  if (chain.IsEVM()) return text_.size() == 42 && text_.starts_with("0x");
  const std::string& id = chain.raw();
  if (id == "XRP") return IsXrpAddress(text_);
  if (id == "TRON") return IsTronAddress(text_);
  if (id == "GAIA") return Bech32Prefix(text_) == "cosmos";
  if (id == "NOBLE") return Bech32Prefix(text_) == "noble";
  if (id == "THOR") {
    const std::string prefix = Bech32Prefix(text_);
    return prefix == "thor" || prefix == "tthor" || prefix == "sthor" || prefix == "cthor";
  }
  if (id == "BTC") {
    const std::string prefix = Bech32Prefix(text_);
    return prefix == "bc" || prefix == "tb" || IsBitcoinAddress(text_, kBtcMainNet) ||
           IsBitcoinAddress(text_, kBtcTestNet3);
  }
  if (id == "LTC") {
    const std::string prefix = Bech32Prefix(text_);
    return prefix == "ltc" || prefix == "tltc" || prefix == "rltc" ||
           IsBitcoinAddress(text_, kLtcMainNet) || IsBitcoinAddress(text_, kLtcTestNet4);
  }
  if (id == "BCH") {
    return IsBchAddress(text_, kBchMainNet) || IsBchAddress(text_, kBchTestNet3) ||
           IsBchAddress(text_, kBchRegression);
  }
  if (id == "DOGE") {
    return IsBitcoinAddress(text_, kDogeMainNet) || IsBitcoinAddress(text_, kDogeTestNet3) ||
           IsBitcoinAddress(text_, kDogeRegression);
  }
  if (id == "SOL") return IsSolAddress(text_);
  if (id == "ZEC") return DecodeZcashAddress(text_).has_value();
  if (id == "SUI") return IsSuiAddress(text_);
  if (id == "ADA") return IsAdaAddress(text_);
  return true;
}

Chain Address::GetChain() const {
  for (const Chain* chain :
       {&chains::kETH, &chains::kTHOR, &chains::kBTC, &chains::kLTC, &chains::kBCH, &chains::kDOGE,
        &chains::kGAIA, &chains::kAVAX, &chains::kXRP, &chains::kZEC, &chains::kADA}) {
    if (IsChain(*chain)) return *chain;
  }
  return chains::kEmpty;
}

ChainNetwork Address::GetNetwork(const Chain& chain, const Network& current) const {
  const ChainNetwork main = current.IsMockNet() ? ChainNetwork::kMainNet : current.kind;
  const ChainNetwork mock = ChainNetwork::kMockNet;
  const ChainNetwork unknown = current.kind;
  if (chain.IsEVM()) return unknown;
  const std::string& id = chain.raw();
  if (id == "THOR") {
    const std::string prefix = Bech32Prefix(text_);
    if (prefix == "thor") return main;
    if (prefix == "tthor") return mock;
    if (prefix == "sthor") return ChainNetwork::kStageNet;
    if (prefix == "cthor") return ChainNetwork::kChainNet;
  } else if (id == "BTC") {
    const std::string prefix = Bech32Prefix(text_);
    if (prefix == "bc") return main;
    if (prefix == "bcrt" || prefix == "tb") return mock;
    if (IsBitcoinAddress(text_, kBtcMainNet)) return main;
    if (IsBitcoinAddress(text_, kBtcTestNet3) || IsBitcoinAddress(text_, kBtcRegression)) {
      return mock;
    }
  } else if (id == "LTC") {
    const std::string prefix = Bech32Prefix(text_);
    if (prefix == "ltc") return main;
    if (prefix == "rltc" || prefix == "tltc") return mock;
    if (IsBitcoinAddress(text_, kLtcMainNet)) return main;
    if (IsBitcoinAddress(text_, kLtcTestNet4) || IsBitcoinAddress(text_, kLtcRegression)) {
      return mock;
    }
  } else if (id == "BCH") {
    if (IsBchAddress(text_, kBchMainNet)) return main;
    if (IsBchAddress(text_, kBchTestNet3) || IsBchAddress(text_, kBchRegression)) return mock;
  } else if (id == "DOGE") {
    if (IsBitcoinAddress(text_, kDogeMainNet)) return main;
    if (IsBitcoinAddress(text_, kDogeTestNet3) || IsBitcoinAddress(text_, kDogeRegression)) {
      return mock;
    }
  } else if (id == "ZEC") {
    if (const std::optional<ZcashAddress> address = DecodeZcashAddress(text_)) {
      return address->is_mainnet ? main : mock;
    }
  } else if (id == "ADA") {
    if (text_.starts_with("addr1")) return main;
    if (text_.starts_with("addr_test1")) return mock;
  }
  return unknown;
}

bool Address::HasPrefixOf(const Chain& chain, const Network& network) const {
  return text_.starts_with(chain.AddressPrefix(network));
}

absl::StatusOr<AccAddress> Address::ToAccAddress(const Network& network) const {
  return AccAddress::FromBech32(text_, network);
}

absl::StatusOr<AccAddress> Address::ToMappedAccAddress(const Network& network) const {
  if (GetChain().IsEVM()) {
    const std::string_view text = text_;
    return AccAddress::FromHex(text.starts_with("0x") ? text.substr(2) : text);
  }
  const absl::StatusOr<Bech32Text> decoded = DecodeBech32(text_, kBech32MaxLength);
  if (!decoded.ok()) return decoded.status();
  return AccAddress::FromBech32(EncodeBech32(network.account_prefix, decoded->data), network);
}

bool Address::IsValidBCHAddress() const {
  for (const std::string_view prefix : {kBchMainNet, kBchTestNet3, kBchRegression}) {
    // The first network that accepts it decides.
    if (IsBchAddress(text_, prefix)) {
      return DecodeCashAddress(text_, prefix).has_value() || IsHexPubKey(text_);
    }
  }
  return false;
}

absl::StatusOr<Address> Address::ToNewBCHFormat(const Network& network) const {
  if (!IsChain(chains::kBCH)) {
    return Error("address(", text_, ") is not BCH chain");
  }
  const std::string_view prefix = network.IsMockNet() ? kBchRegression : kBchMainNet;
  const std::optional<CashAddress> address = DecodeBchAddress(text_, prefix);
  if (address) return Parse(EncodeCashAddress(*address, prefix), network);
  if (IsHexPubKey(text_)) return Error("invalid address type");
  return Error("fail to decode address(", text_, ")");
}

absl::StatusOr<Address> Address::ToTexAddress(const Network& network) const {
  const auto error = [this](std::string_view what) {
    return Error(text_, " is no ", what, " address");
  };
  const std::optional<ZcashAddress> address = DecodeZcashAddress(text_);
  if (!address) return error("Zcash");
  if (!text_.starts_with("t1") && !text_.starts_with("tm")) return error("P2PKH");
  if (address->is_mainnet == network.IsMockNet()) {
    return Error("unknown address");
  }
  const std::string_view prefix = network.IsMockNet() ? "textest" : "tex";
  return Address(EncodeBech32(prefix, BytesToGroups(address->hash), Bech32Checksum::kBech32m));
}

bool operator==(const Address& a, const Address& b) {
  return a.text_ == b.text_ || EqualFold(a.text_, b.text_);
}

}  // namespace blockreplay::keeper::thorchain
