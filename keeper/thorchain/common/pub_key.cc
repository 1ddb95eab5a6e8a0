#include "keeper/thorchain/common/pub_key.h"

#include <secp256k1.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "absl/container/flat_hash_map.h"
#include "keeper/optimisations.h"
#include "keeper/thorchain/common/base58.h"
#include "keeper/thorchain/common/bech32.h"
#include "keeper/thorchain/common/bitcoin_address.h"
#include "keeper/thorchain/common/cash_address.h"
#include "keeper/thorchain/common/digest.h"
#include "keeper/thorchain/common/status_text.h"

namespace blockreplay::keeper::thorchain {
namespace {

// Amino's registered prefixes, each followed by the size of the key.
constexpr std::string_view kSecp256k1Prefix = "\xeb\x5a\xe9\x87\x21";
constexpr std::string_view kEd25519Prefix = "\x16\x24\xde\x64\x20";
constexpr size_t kSecp256k1Size = 33;
constexpr size_t kEd25519Size = 32;

absl::StatusOr<CryptoKey> DecodeKey(std::string_view text, std::string_view prefix) {
  if (text.empty()) {
    return Error("decoding Bech32 address failed: must provide an address");
  }
  absl::StatusOr<CosmosBech32> decoded = DecodeCosmosBech32(text);
  if (!decoded.ok()) return decoded.status();
  if (decoded->prefix != prefix) {
    return Error("invalid Bech32 prefix; expected ", prefix, ", got ", decoded->prefix);
  }
  const std::string_view bytes = decoded->bytes;
  if (bytes.starts_with(kSecp256k1Prefix) &&
      bytes.size() == kSecp256k1Prefix.size() + kSecp256k1Size) {
    return CryptoKey{CryptoKey::Type::kSecp256k1,
                     std::string(bytes.substr(kSecp256k1Prefix.size()))};
  }
  if (bytes.starts_with(kEd25519Prefix) && bytes.size() == kEd25519Prefix.size() + kEd25519Size) {
    return CryptoKey{CryptoKey::Type::kEd25519, std::string(bytes.substr(kEd25519Prefix.size()))};
  }
  return Error("unrecognized public key encoding");
}

std::string EncodeKey(const CryptoKey& key, std::string_view prefix) {
  const std::string_view amino =
      key.type == CryptoKey::Type::kSecp256k1 ? kSecp256k1Prefix : kEd25519Prefix;
  return EncodeBech32Bytes(prefix, StrCat(amino, key.bytes));
}

// The last 20 bytes of the Keccak digest of the point's coordinates.
absl::StatusOr<std::string> EvmAccount(const CryptoKey& key) {
  const secp256k1_context* context = secp256k1_context_static;
  secp256k1_pubkey point;
  if (secp256k1_ec_pubkey_parse(context, &point,
                                reinterpret_cast<const unsigned char*>(key.bytes.data()),
                                key.bytes.size()) != 1) {
    return Error("not a secp256k1 public key (", key.bytes.size(), " bytes)");
  }
  std::string uncompressed(65, '\0');
  size_t size = uncompressed.size();
  secp256k1_ec_pubkey_serialize(context, reinterpret_cast<unsigned char*>(uncompressed.data()),
                                &size, &point, SECP256K1_EC_UNCOMPRESSED);
  return Keccak256(std::string_view(uncompressed).substr(1)).substr(12);
}

std::string WitnessPubKeyHash(std::string_view prefix, std::string_view hash) {
  return EncodeBech32(prefix, StrCat(std::string(1, '\0'), BytesToGroups(hash)));
}

std::string VersionedHash(char version, std::string_view hash) {
  return EncodeBase58Check(StrCat(std::string(1, version), hash));
}

absl::StatusOr<std::string> AddressText(const CryptoKey& key, const Chain& chain,
                                        const Network& network) {
  const std::string& id = chain.raw();
  const bool mocknet = network.IsMockNet();
  if (id == "THOR" || id == "GAIA" || id == "NOBLE") {
    return EncodeBech32Bytes(chain.AddressPrefix(network), key.AddressBytes());
  }
  if (id == "BTC" || id == "LTC") {
    return WitnessPubKeyHash(chain.AddressPrefix(network), key.AddressBytes());
  }
  if (id == "DOGE") return VersionedHash(mocknet ? '\x6f' : '\x1e', key.AddressBytes());
  if (id == "BCH") {
    return EncodeCashAddress({.is_script = false, .hash = key.AddressBytes()},
                             mocknet ? kBchRegression : kBchMainNet);
  }
  if (id == "ZEC") return EncodeZcashPubKeyHash(key.AddressBytes(), !mocknet);
  if (id == "XRP") {
    if (absl::StatusOr<std::string> account = EvmAccount(key); !account.ok()) {
      return Error("get pub key secp256k1, ", ErrorText(account));
    }
    const std::string hash = Ripemd160(Sha256(key.bytes));
    return EncodeBase58Check(StrCat(std::string(1, '\0'), hash), Base58Alphabet::kXrp);
  }
  if (id == "TRON") {
    absl::StatusOr<std::string> account = EvmAccount(key);
    if (!account.ok()) return account.status();
    return VersionedHash('\x41', *account);
  }
  if (id == "SOL") {
    if (key.bytes.size() != kEd25519Size) {
      return Error("invalid pubkey length ", key.bytes.size());
    }
    return EncodeBase58(key.bytes);
  }
  if (id == "SUI") {
    return StrCat("0x", LowerHex(Blake2b256(StrCat(std::string(1, '\0'), key.bytes))));
  }
  if (id == "ADA") {
    // An enterprise address: header 6 and the network, then the key where its hash belongs.
    const char header = mocknet ? '\x60' : '\x61';
    return EncodeBech32Bytes(mocknet ? "addr_test" : "addr",
                             StrCat(std::string(1, header), key.bytes));
  }
  absl::StatusOr<std::string> account = EvmAccount(key);
  if (!account.ok()) return account.status();
  return StrCat("0x", LowerHex(*account));
}

bool HasAddressRule(const Chain& chain) {
  static constexpr std::array<std::string_view, 14> kRules{"THOR", "GAIA", "NOBLE", "BTC", "LTC",
                                                           "DOGE", "BCH",  "ZEC",   "XRP", "TRON",
                                                           "SOL",  "SUI",  "ADA",   ""};
  return (!chain.raw().empty() &&
          std::find(kRules.begin(), kRules.end(), chain.raw()) != kRules.end()) ||
         chain.IsEVM();
}

}  // namespace

std::string CryptoKey::AddressBytes() const {
  if (type == Type::kSecp256k1) return Ripemd160(Sha256(bytes));
  return Sha256(bytes).substr(0, 20);
}

absl::StatusOr<PubKey> PubKey::Parse(std::string_view text, const Network& network) {
  if (text.empty()) return PubKey();
  if (absl::StatusOr<CryptoKey> key = DecodeKey(text, network.account_pub_key_prefix); !key.ok()) {
    return Error(text, " is not bech32 encoded pub key,err : ", ErrorText(key));
  }
  return PubKey(text);
}

PubKey PubKey::FromKey(const CryptoKey& key, const Network& network) {
  return PubKey(EncodeKey(key, network.account_pub_key_prefix));
}

absl::StatusOr<CryptoKey> PubKey::Decode(const Network& network) const {
  return DecodeKey(text_, network.account_pub_key_prefix);
}

absl::StatusOr<CryptoKey> PubKey::DecodeConsensus(std::string_view text, const Network& network) {
  return DecodeKey(text, network.consensus_pub_key_prefix);
}

absl::StatusOr<Address> PubKey::GetAddress(const Chain& chain, const Network& network) const {
  if (IsEmpty()) return Address();
  if (!HasAddressRule(chain)) return Address();
  // A handful of vaults and some hundred nodes are asked for again and again, at the price of
  // several hashes or a point each time.
  constexpr size_t kMaxRemembered = 16'384;
  thread_local absl::flat_hash_map<std::string, Address> remembered;
  const std::string cache_key =
      StrCat(static_cast<int>(network.kind), "-", chain.raw(), "-", text_);
  const bool remember = IsOn(Optimisation::kBech32Texts);
  if (const auto found = remembered.find(cache_key); remember && found != remembered.end()) {
    return found->second;
  }
  const absl::StatusOr<CryptoKey> key = Decode(network);
  if (!key.ok()) return key.status();
  absl::StatusOr<std::string> text = AddressText(*key, chain, network);
  if (!text.ok()) return text.status();
  Address address(*std::move(text));
  if (!remember) return address;
  if (remembered.size() >= kMaxRemembered) remembered.clear();
  remembered.emplace(cache_key, address);
  return address;
}

absl::StatusOr<AccAddress> PubKey::GetThorAddress(const Network& network) const {
  const absl::StatusOr<Address> address = GetAddress(chains::kTHOR, network);
  if (!address.ok()) return address.status();
  return address->ToAccAddress(network);
}

std::string ConsensusPubKeyText(const CryptoKey& key, const Network& network) {
  return EncodeKey(key, network.consensus_pub_key_prefix);
}

bool Contains(const std::vector<PubKey>& keys, const PubKey& key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

bool SameKeys(std::vector<PubKey> a, std::vector<PubKey> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return a == b;
}

std::string ToString(const std::vector<PubKey>& keys) {
  std::string result;
  for (const PubKey& key : keys) {
    if (!result.empty()) result += ", ";
    result += key.ToString();
  }
  return result;
}

absl::StatusOr<Address> PubKeySet::GetAddress(const Chain& chain, const Network& network) const {
  const PubKey& key = chain.GetSigningAlgo() == SigningAlgo::kEd25519 ? ed25519 : secp256k1;
  return key.GetAddress(chain, network);
}

std::string PubKeySet::ToString() const {
  return StrCat("\n\tsecp256k1: ", secp256k1.ToString(), "\n\ted25519: ", ed25519.ToString(), "\n");
}

}  // namespace blockreplay::keeper::thorchain
