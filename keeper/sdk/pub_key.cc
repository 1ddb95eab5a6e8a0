#include "keeper/sdk/pub_key.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/obj_mac.h>
#include <openssl/ripemd.h>
#include <openssl/sha.h>
#include <secp256k1.h>

#include <algorithm>
#include <array>
#include <memory>

#include "keeper/optimisations.h"
#include "keeper/sdk/str_cat.h"
#include "keeper/sdk/string_map.h"
#include "keeper/sdk/wire.h"

namespace blockreplay::keeper::sdk {
namespace {

constexpr size_t kAddressSize = 20;
// Limits for what is packed into one Any: levels, and all of it.
constexpr int kMostLevels = 10;
constexpr int kMostPacked = 100;

Error UnpackError(std::string_view what) {
  return Error(kErrUnpackAny, StrCat("public key: ", what));
}

constexpr std::array kTypes{PubKey::Type::kSecp256k1, PubKey::Type::kEd25519,
                            PubKey::Type::kSecp256r1, PubKey::Type::kMultisig};

std::string_view TypeUrl(PubKey::Type type) {
  switch (type) {
    case PubKey::Type::kSecp256k1:
      return "/cosmos.crypto.secp256k1.PubKey";
    case PubKey::Type::kEd25519:
      return "/cosmos.crypto.ed25519.PubKey";
    case PubKey::Type::kSecp256r1:
      return "/cosmos.crypto.secp256r1.PubKey";
    case PubKey::Type::kMultisig:
      break;
  }
  return "/cosmos.crypto.multisig.LegacyAminoPubKey";
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

// A point of secp256r1 in compressed form, which its keys are decoded to at once.
bool IsSecp256r1Point(std::string_view bytes) {
  constexpr size_t kCompressedSize = 33;
  static const EC_GROUP* const curve = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
  const std::unique_ptr<EC_POINT, decltype(&EC_POINT_free)> point(EC_POINT_new(curve),
                                                                  EC_POINT_free);
  return bytes.size() == kCompressedSize && point != nullptr &&
         EC_POINT_oct2point(curve, point.get(),
                            reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
                            nullptr) == 1;
}

// `*packed` counts keys within keys.
Result<PubKey> FromAnyAtDepth(const Any& any, int depth, int* packed) {
  if (depth >= kMostLevels) return UnpackError("max depth exceeded");
  if (++*packed > kMostPacked) return UnpackError("call limit exceeded");
  PubKey key;
  const auto known = std::find_if(kTypes.begin(), kTypes.end(), [&](PubKey::Type candidate) {
    return TypeUrl(candidate) == any.type_url;
  });
  if (known != kTypes.end()) {
    key.type = *known;
  } else if (any.type_url.find("ethsecp256k1") != std::string::npos) {
    throw NotNative("Ethereum public keys");
  } else {
    return UnpackError(StrCat("no concrete type registered for type URL ", any.type_url));
  }
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
        Result<PubKey> unpacked = FromAnyAtDepth(member, depth + 1, packed);
        if (!unpacked.ok()) return unpacked.error();
        key.members.push_back(*std::move(unpacked));
      } else if (!r.Skip(number, type)) {
        return UnpackError("malformed");
      }
    } else if (number == 1) {
      if (type != WireType::kBytes || !r.Bytes(&bytes) ||
          (key.type == PubKey::Type::kSecp256r1 && !IsSecp256r1Point(bytes))) {
        return UnpackError("malformed");
      }
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

// Decompressing a key costs a good part of a verification, and the same few hundred keys sign
// everything.
bool ParseKey(std::string_view key, secp256k1_pubkey* parsed) {
  thread_local StringMap<secp256k1_pubkey> remembered;
  constexpr size_t kMostKeys = 1 << 14;
  const bool remember = IsOn(Optimisation::kPublicKeys);
  if (remember) {
    if (const auto found = remembered.find(key); found != remembered.end()) {
      *parsed = found->second;
      return true;
    }
  }
  if (secp256k1_ec_pubkey_parse(
          Context(), parsed, reinterpret_cast<const unsigned char*>(key.data()), key.size()) != 1) {
    return false;
  }
  if (remember) {
    if (remembered.size() >= kMostKeys) remembered.clear();
    remembered.emplace(std::string(key), *parsed);
  }
  return true;
}

}  // namespace

Sha256Digest Sha256Of(std::string_view bytes) {
  Sha256Digest digest;
  static_assert(digest.size() == SHA256_DIGEST_LENGTH);
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  return digest;
}

Result<PubKey> PubKey::FromAny(const Any& any) {
  int packed = 0;
  return FromAnyAtDepth(any, 0, &packed);
}

Any PubKey::ToAny() const {
  WireWriter w;
  if (type != Type::kMultisig) {
    w.BytesField(1, key);
  } else {
    for (size_t i = members.size(); i-- > 0;) {
      const Any member = members[i].ToAny();
      const size_t mark = w.size();
      w.BytesField(2, member.value);
      w.BytesField(1, member.type_url);
      w.EndMessage(2, mark);
    }
    w.VarintField(1, threshold);
  }
  return {std::string(TypeUrl(type)), std::string(w.bytes())};
}

std::string PubKey::Address() const {
  switch (type) {
    case Type::kSecp256k1: {
      if (key.size() != 33) throw Panic("length of pubkey is incorrect");
      const Sha256Digest digest = Sha256Of(key);
      std::string address(kAddressSize, '\0');
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
      RIPEMD160(digest.data(), digest.size(), reinterpret_cast<unsigned char*>(address.data()));
#pragma GCC diagnostic pop
      return address;
    }
    case Type::kEd25519: {
      if (key.size() != 32) throw Panic("pubkey is incorrect size");
      const Sha256Digest digest = Sha256Of(key);
      return std::string(reinterpret_cast<const char*>(digest.data()), kAddressSize);
    }
    case Type::kSecp256r1:
      throw NotNative("addresses of secp256r1 keys");
    case Type::kMultisig: {
      const Sha256Digest digest = Sha256Of(AminoBytes(*this));
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
  return VerifySecp256k1(key, Sha256Of(message), signature);
}

bool VerifySecp256k1(std::string_view key, const Sha256Digest& digest, std::string_view signature) {
  if (signature.size() != 64) return false;
  secp256k1_pubkey parsed_key;
  if (!ParseKey(key, &parsed_key)) return false;
  secp256k1_ecdsa_signature parsed_signature;
  if (secp256k1_ecdsa_signature_parse_compact(
          Context(), &parsed_signature, reinterpret_cast<const unsigned char*>(signature.data())) !=
      1) {
    return false;
  }
  // Verification itself refuses an s in the upper half.
  return secp256k1_ecdsa_verify(Context(), &parsed_signature, digest.data(), &parsed_key) == 1;
}

bool VerifyEd25519(std::string_view key, std::string_view message, std::string_view signature) {
  constexpr size_t kKeySize = 32;
  constexpr size_t kSignatureSize = 64;
  if (key.size() != kKeySize || signature.size() != kSignatureSize) return false;
  const auto bytes = [](std::string_view view) {
    return reinterpret_cast<const unsigned char*>(view.data());
  };
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> pkey(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes(key), key.size()),
      EVP_PKEY_free);
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        EVP_MD_CTX_free);
  return pkey != nullptr && context != nullptr &&
         EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, pkey.get()) == 1 &&
         EVP_DigestVerify(context.get(), bytes(signature), signature.size(), bytes(message),
                          message.size()) == 1;
}

}  // namespace blockreplay::keeper::sdk
