#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "keeper/thorchain/common/cash_address.h"

// The address forms of Bitcoin and its relatives, as their Go libraries accept them.
namespace blockreplay::keeper::thorchain {

// What an address must look like on one network of one chain.
struct BitcoinParams {
  // Prefixes of segregated witness addresses, of every network of that chain: the libraries don't
  // tell them apart.
  std::string_view segwit_prefixes[4];
  // Bech32m with witness version 1 is accepted too.
  bool taproot;
  // Hashes are decoded by the library that panics at wide characters (base58.h).
  bool digits_by_character;
  uint8_t pub_key_hash_version;
  uint8_t script_hash_version;
};

extern const BitcoinParams kBtcMainNet, kBtcTestNet3, kBtcRegression, kLtcMainNet, kLtcTestNet4,
    kLtcRegression, kDogeMainNet, kDogeTestNet3, kDogeRegression;

// Segregated witness, a raw public key in hexadecimal digits, or a hash with checksum. Throws Panic
// where the library does.
bool IsBitcoinAddress(std::string_view text, const BitcoinParams& params);
// A hash with checksum only.
bool IsBitcoinHashAddress(std::string_view text, const BitcoinParams& params);

inline constexpr std::string_view kBchMainNet = "bitcoincash";
inline constexpr std::string_view kBchTestNet3 = "bchtest";
inline constexpr std::string_view kBchRegression = "bchreg";

// The hash of an address in the new format with that prefix, or in the legacy one of any network.
std::optional<CashAddress> DecodeBchAddress(std::string_view text, std::string_view prefix);
// Those, or a raw public key in hexadecimal digits.
bool IsBchAddress(std::string_view text, std::string_view prefix);

// Hexadecimal digits of a compressed, uncompressed or hybrid point of secp256k1.
bool IsHexPubKey(std::string_view text);

// The 20-byte hash of a transparent Zcash address: t1, t3 and tex1 on mainnet, t2, tm and textest1
// on testnet.
struct ZcashAddress {
  bool is_mainnet = false;
  std::string hash;
};
std::optional<ZcashAddress> DecodeZcashAddress(std::string_view text);
std::string EncodeZcashPubKeyHash(std::string_view hash, bool is_mainnet);

}  // namespace blockreplay::keeper::thorchain
