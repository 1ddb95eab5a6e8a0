#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "keeper/sdk/any.h"
#include "keeper/sdk/error.h"

namespace blockreplay::keeper::sdk {

// A public key of an account (cosmos-sdk crypto/keys).
struct PubKey {
  enum class Type : uint8_t { kSecp256k1, kEd25519, kSecp256r1, kMultisig };

  Type type = Type::kSecp256k1;
  std::string key;              // all but multisig
  uint32_t threshold = 0;       // multisig
  std::vector<PubKey> members;  // multisig

  // From the Any that transactions and accounts carry. Codes as the SDK's: unknown types fail as
  // they do when an Any is unpacked. Multisig keys may nest, up to the SDK's limits: ten levels, a
  // hundred keys with multisig keys among them.
  static Result<PubKey> FromAny(const Any& any);
  // As the SDK packs it.
  Any ToAny() const;

  // 20 raw bytes. Keys of a length that the SDK panics at panic.
  std::string Address() const;
  // Keys that sign, counted through nested multisig keys.
  int CountSubKeys() const;
};

using Sha256Digest = std::array<unsigned char, 32>;
Sha256Digest Sha256Of(std::string_view bytes);

// Checks a 64-byte secp256k1 signature (r, s; s in the lower half) of the SHA-256 of `message`, or
// of that digest, by a compressed key.
bool VerifySecp256k1(std::string_view key, std::string_view message, std::string_view signature);
bool VerifySecp256k1(std::string_view key, const Sha256Digest& digest, std::string_view signature);

// Checks an ed25519 signature. The SDK follows ZIP 215, which takes some signatures of malformed
// points that are refused here.
bool VerifyEd25519(std::string_view key, std::string_view message, std::string_view signature);

}  // namespace blockreplay::keeper::sdk
