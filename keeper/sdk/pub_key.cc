#include "keeper/sdk/pub_key.h"

#include <openssl/ripemd.h>
#include <openssl/sha.h>
#include <secp256k1.h>

#include <array>

#include "keeper/sdk/str_cat.h"
#include "keeper/sdk/string_map.h"
#include "keeper/sdk/wire.h"

namespace blockreplay::keeper::sdk {
namespace {

constexpr size_t kAddressSize = 20;
constexpr int kDeepestMultisig = 16;

using Digest = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

Digest Sha256(std::string_view bytes) {
  Digest digest;
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  return digest;
}

Error UnpackError(std::string_view what) {
  return Error(kErrUnpackAny, StrCat("public key: ", what));
}

bool DecodeAny(std::string_view bytes, Any* any) {
  WireReader r(bytes);
  while (!r.AtEnd()) {
    uint32_t number = 0;
    WireType type{};
    std::string_view text;
    if (!r.Tag(&number, &type)) return false;
    if (number == 1 || number == 2) {
      if (type != WireType::kBytes || !r.Bytes(&text)) return false;
      (number == 1 ? any->type_url : any->value) = text;
    } else if (!r.Skip(number, type)) {
      return false;
    }
  }
  return true;
}

Result<PubKey> FromAnyAtDepth(const Any& any, int depth) {
  PubKey key;
  if (any.type_url == "/cosmos.crypto.secp256k1.PubKey") {
    key.type = PubKey::Type::kSecp256k1;
  } else if (any.type_url == "/cosmos.crypto.ed25519.PubKey") {
    key.type = PubKey::Type::kEd25519;
  } else if (any.type_url == "/cosmos.crypto.secp256r1.PubKey") {
    key.type = PubKey::Type::kSecp256r1;
  } else if (any.type_url == "/cosmos.crypto.multisig.LegacyAminoPubKey") {
    key.type = PubKey::Type::kMultisig;
  } else if (any.type_url.find("ethsecp256k1") != std::string::npos) {
    throw NotNative("Ethereum public keys");
  } else {
    return UnpackError(StrCat("no concrete type registered for type URL ", any.type_url));
  }
  if (depth > kDeepestMultisig) return UnpackError("multisig keys nest too deep");
  WireReader r(any.value);
  while (!r.AtEnd()) {
    uint32_t number = 0;
    WireType type{};
    std::string_view bytes;
    if (!r.Tag(&number, &type)) return UnpackError("malformed");
    if (key.type == PubKey::Type::kMultisig) {
      if (number == 1) {
        uint64_t threshold = 0;
        if (type != WireType::kVarint || !r.Varint(&threshold)) return UnpackError("malformed");
        key.threshold = static_cast<uint32_t>(threshold);
      } else if (number == 2) {
        Any member;
        if (type != WireType::kBytes || !r.Bytes(&bytes) || !DecodeAny(bytes, &member)) {
          return UnpackError("malformed");
        }
        Result<PubKey> unpacked = FromAnyAtDepth(member, depth + 1);
        if (!unpacked.ok()) return unpacked.error();
        key.members.push_back(*std::move(unpacked));
      } else if (!r.Skip(number, type)) {
        return UnpackError("malformed");
      }
    } else if (number == 1) {
      if (type != WireType::kBytes || !r.Bytes(&bytes)) return UnpackError("malformed");
      key.key = bytes;
    } else if (!r.Skip(number, type)) {
      return UnpackError("malformed");
    }
  }
  return key;
}

// The key in amino's binary encoding: a prefix of the registered type, then its content.
std::string AminoBytes(const PubKey& key) {
  std::string out;
  const auto append_size = [&out](uint64_t size) {
    for (; size >= 0x80; size >>= 7) out.push_back(static_cast<char>(size | 0x80));
    out.push_back(static_cast<char>(size));
  };
  switch (key.type) {
    case PubKey::Type::kSecp256k1:
      out = "\xeb\x5a\xe9\x87";
      break;
    case PubKey::Type::kEd25519:
      out = "\x16\x24\xde\x64";
      break;
    case PubKey::Type::kSecp256r1:
      throw NotNative("secp256r1 keys inside multisig keys");
    case PubKey::Type::kMultisig:
      out = "\x22\xc1\xf7\xe2";
      if (key.threshold != 0) {
        out.push_back('\x08');
        append_size(key.threshold);
      }
      for (const PubKey& member : key.members) {
        const std::string bytes = AminoBytes(member);
        out.push_back('\x12');
        append_size(bytes.size());
        out += bytes;
      }
      return out;
  }
  append_size(key.key.size());
  return out + key.key;
}

const secp256k1_context* Context() {
  static const secp256k1_context* const context =
      secp256k1_context_create(SECP256K1_CONTEXT_VERIFY);
  return context;
}

}  // namespace

Result<PubKey> PubKey::FromAny(const Any& any) { return FromAnyAtDepth(any, 0); }

std::string PubKey::Address() const {
  switch (type) {
    case Type::kSecp256k1: {
      if (key.size() != 33) throw Panic("length of pubkey is incorrect");
      const Digest digest = Sha256(key);
      std::string address(kAddressSize, '\0');
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
      RIPEMD160(digest.data(), digest.size(), reinterpret_cast<unsigned char*>(address.data()));
#pragma GCC diagnostic pop
      return address;
    }
    case Type::kEd25519: {
      if (key.size() != 32) throw Panic("pubkey is incorrect size");
      const Digest digest = Sha256(key);
      return std::string(reinterpret_cast<const char*>(digest.data()), kAddressSize);
    }
    case Type::kSecp256r1:
      throw NotNative("addresses of secp256r1 keys");
    case Type::kMultisig: {
      const Digest digest = Sha256(AminoBytes(*this));
      return std::string(reinterpret_cast<const char*>(digest.data()), kAddressSize);
    }
  }
  return {};
}

int PubKey::CountSubKeys() const {
  if (type != Type::kMultisig) return 1;
  int count = 0;
  for (const PubKey& member : members) count += member.CountSubKeys();
  return count;
}

bool VerifySecp256k1(std::string_view key, std::string_view message, std::string_view signature) {
  if (signature.size() != 64) return false;
  // Decompressing a key costs a good part of a verification, and the same few hundred keys sign
  // everything.
  thread_local StringMap<secp256k1_pubkey> parsed_keys;
  constexpr size_t kMostKeys = 1 << 14;
  auto found = parsed_keys.find(key);
  if (found == parsed_keys.end()) {
    secp256k1_pubkey parsed;
    if (secp256k1_ec_pubkey_parse(Context(), &parsed,
                                  reinterpret_cast<const unsigned char*>(key.data()),
                                  key.size()) != 1) {
      return false;
    }
    if (parsed_keys.size() >= kMostKeys) parsed_keys.clear();
    found = parsed_keys.emplace(std::string(key), parsed).first;
  }
  secp256k1_ecdsa_signature parsed_signature;
  if (secp256k1_ecdsa_signature_parse_compact(
          Context(), &parsed_signature, reinterpret_cast<const unsigned char*>(signature.data())) !=
      1) {
    return false;
  }
  // Verification itself refuses an s in the upper half.
  const Digest digest = Sha256(message);
  return secp256k1_ecdsa_verify(Context(), &parsed_signature, digest.data(), &found->second) == 1;
}

}  // namespace blockreplay::keeper::sdk
