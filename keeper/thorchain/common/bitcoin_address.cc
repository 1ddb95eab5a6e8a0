#include "keeper/thorchain/common/bitcoin_address.h"

#include <secp256k1.h>

#include <algorithm>
#include <cstddef>

#include "absl/status/statusor.h"
#include "keeper/thorchain/common/base58.h"
#include "keeper/thorchain/common/bech32.h"
#include "keeper/thorchain/common/digest.h"
#include "keeper/thorchain/common/status_text.h"
#include "keeper/thorchain/common/text.h"

namespace blockreplay::keeper::thorchain {

// Values of btcd v0.22.1, ltcd v0.20.1 and dogd's chain parameters (main, test, regression,
// simulation). Dogecoin's library was derived from Bitcoin's and kept its witness prefixes.
const BitcoinParams kBtcMainNet{{"bc", "tb", "bcrt", "sb"}, true, true, 0x00, 0x05};
const BitcoinParams kBtcTestNet3{{"bc", "tb", "bcrt", "sb"}, true, true, 0x6f, 0xc4};
const BitcoinParams kBtcRegression{{"bc", "tb", "bcrt", "sb"}, true, true, 0x6f, 0xc4};
const BitcoinParams kLtcMainNet{{"ltc", "tltc", "rltc", "sltc"}, false, false, 0x30, 0x32};
const BitcoinParams kLtcTestNet4{{"ltc", "tltc", "rltc", "sltc"}, false, false, 0x6f, 0x3a};
const BitcoinParams kLtcRegression{{"ltc", "tltc", "rltc", "sltc"}, false, false, 0x6f, 0x3a};
const BitcoinParams kDogeMainNet{{"bc", "tb", "bcrt", "sb"}, false, false, 0x1e, 0x16};
const BitcoinParams kDogeTestNet3{{"bc", "tb", "bcrt", "sb"}, false, false, 0x71, 0xc4};
const BitcoinParams kDogeRegression{{"bc", "tb", "bcrt", "sb"}, false, false, 0x6f, 0xc4};

namespace {

constexpr size_t kHashSize = 20;

bool IsWitnessAddress(std::string_view text, const BitcoinParams& params) {
  const absl::StatusOr<Bech32Text> decoded = DecodeBech32(text, kBech32MaxLength);
  if (!decoded.ok() || decoded->data.empty()) return false;
  const char version = decoded->data[0];
  if (version != 0 && !(version == 1 && params.taproot)) return false;
  const Bech32Checksum expected = version == 0 ? Bech32Checksum::kBech32 : Bech32Checksum::kBech32m;
  if (decoded->checksum != expected) return false;
  const absl::StatusOr<std::string> program =
      GroupsToBytes(std::string_view(decoded->data).substr(1));
  // Version 1 programs of 20 bytes pass for public key hashes.
  return program.ok() && (program->size() == 20 || program->size() == 32);
}

// The version byte and the hash.
std::optional<std::string> DecodeHashAddress(std::string_view text) {
  std::optional<std::string> decoded = DecodeBase58Check(text);
  if (!decoded || decoded->size() != 1 + kHashSize) return std::nullopt;
  return decoded;
}

}  // namespace

bool IsHexPubKey(std::string_view text) {
  if ((text.size() != 66 && text.size() != 130) || !IsHex(text)) return false;
  const std::string bytes = HexToBytes(text);
  secp256k1_pubkey key;
  return secp256k1_ec_pubkey_parse(secp256k1_context_static, &key,
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   bytes.size()) == 1;
}

bool IsBitcoinHashAddress(std::string_view text, const BitcoinParams& params) {
  const std::optional<std::string> decoded = DecodeHashAddress(text);
  if (!decoded) return false;
  const auto version = static_cast<unsigned char>((*decoded)[0]);
  return version == params.pub_key_hash_version || version == params.script_hash_version;
}

bool IsBitcoinAddress(std::string_view text, const BitcoinParams& params) {
  const size_t separator = text.rfind('1');
  if (separator != std::string_view::npos && separator > 1) {
    const std::string prefix = ToLower(text.substr(0, separator));
    const auto& known = params.segwit_prefixes;
    if (std::find(std::begin(known), std::end(known), prefix) != std::end(known)) {
      return IsWitnessAddress(text, params);
    }
  }
  if (text.size() == 66 || text.size() == 130) return IsHexPubKey(text);
  if (params.digits_by_character) PanicAtWideCharacter(text, Base58Alphabet::kBitcoin);
  return IsBitcoinHashAddress(text, params);
}

std::optional<CashAddress> DecodeBchAddress(std::string_view text, std::string_view prefix) {
  if (text.size() < prefix.size() + 2) return std::nullopt;
  if (std::optional<CashAddress> address = DecodeCashAddress(text, prefix)) return address;
  if (text.size() == 66 || text.size() == 130) return std::nullopt;
  std::optional<std::string> decoded = DecodeHashAddress(text);
  if (!decoded) return std::nullopt;
  // Of the main, test and regression, and simulation networks.
  switch (static_cast<unsigned char>((*decoded)[0])) {
    case 0x00:
    case 0x6f:
    case 0x3f:
      return CashAddress{.is_script = false, .hash = decoded->substr(1)};
    case 0x05:
    case 0xc4:
    case 0x7b:
      return CashAddress{.is_script = true, .hash = decoded->substr(1)};
    default:
      return std::nullopt;
  }
}

bool IsBchAddress(std::string_view text, std::string_view prefix) {
  return DecodeBchAddress(text, prefix).has_value() || IsHexPubKey(text);
}

std::optional<ZcashAddress> DecodeZcashAddress(std::string_view text) {
  // The first matching start decides the network, and nothing else is tried.
  bool is_mainnet = false;
  bool is_tex = false;
  if (text.starts_with("t1") || text.starts_with("t3")) {
    is_mainnet = true;
  } else if (text.starts_with("t2") || text.starts_with("tm")) {
    is_mainnet = false;
  } else if (text.starts_with("tex1")) {
    is_mainnet = true;
    is_tex = true;
  } else if (text.starts_with("textest1")) {
    is_tex = true;
  } else {
    return std::nullopt;
  }
  if (is_tex) {
    const absl::StatusOr<Bech32Text> decoded = DecodeBech32(text, kBech32MaxLength);
    if (!decoded.ok() || decoded->checksum != Bech32Checksum::kBech32m ||
        decoded->prefix != (is_mainnet ? "tex" : "textest")) {
      return std::nullopt;
    }
    absl::StatusOr<std::string> hash = GroupsToBytes(decoded->data);
    if (!hash.ok() || hash->size() != kHashSize) return std::nullopt;
    return ZcashAddress{.is_mainnet = is_mainnet, .hash = *std::move(hash)};
  }
  const std::optional<std::string> decoded = DecodeBase58Check(text);
  if (!decoded || decoded->size() != 2 + kHashSize) return std::nullopt;
  const std::string_view version = std::string_view(*decoded).substr(0, 2);
  const bool known = is_mainnet ? version == "\x1c\xb8" || version == "\x1c\xbd"
                                : version == "\x1d\x25" || version == "\x1c\xba";
  if (!known) return std::nullopt;
  return ZcashAddress{.is_mainnet = is_mainnet, .hash = decoded->substr(2)};
}

std::string EncodeZcashPubKeyHash(std::string_view hash, bool is_mainnet) {
  return EncodeBase58Check(StrCat(is_mainnet ? "\x1c\xb8" : "\x1d\x25", hash));
}

}  // namespace blockreplay::keeper::thorchain
