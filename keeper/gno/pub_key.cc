// RIPEMD-160 is in no provider that OpenSSL loads by default; the old interface still has it.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "keeper/gno/pub_key.h"

#include <openssl/evp.h>
#include <openssl/ripemd.h>

#include <cstring>
#include <memory>

#include "keeper/gno/amino.h"
#include "keeper/sdk/panic.h"
#include "keeper/sdk/pub_key.h"
#include "storage/sha256.h"

namespace blockreplay::keeper::gno {
namespace {

using Kind = PubKey::Kind;

// What stands before the raw key in the Any of a plain key.
constexpr std::string_view kSecp256k1Head = "\x0a\x13/tm.PubKeySecp256k1\x12\x23\x0a\x21";
constexpr std::string_view kEd25519Head = "\x0a\x11/tm.PubKeyEd25519\x12\x22\x0a\x20";
constexpr std::string_view kMultisigUrl = "/tm.PubKeyMultisig";
constexpr std::string_view kMockUrl = "/tm.PubKeyMock";
constexpr size_t kSecp256k1Size = 33;
constexpr size_t kEd25519Size = 32;

std::string_view Plain(std::string_view head, std::string_view raw, Scratch* scratch) {
  char* const to = scratch->Allocate(head.size() + raw.size());
  std::memcpy(to, head.data(), head.size());
  std::memcpy(to + head.size(), raw.data(), raw.size());
  return {to, head.size() + raw.size()};
}

// The value of a byte array or slice in an Any: a message with field 1.
bool UnwrapBytes(std::string_view value, std::string_view* raw) {
  *raw = {};
  if (value.empty()) return true;
  amino::FieldReader reader(value);
  return reader.Next() && reader.field() == 1 && reader.Bytes(raw) && !reader.Next() && reader.ok();
}

std::optional<PubKey> PlainFromValue(Kind kind, std::string_view head, size_t size,
                                     std::string_view value, Scratch* scratch) {
  std::string_view raw;
  if (!UnwrapBytes(value, &raw)) return std::nullopt;
  constexpr char kZeros[kSecp256k1Size] = {};
  if (value.empty()) raw = std::string_view(kZeros, size);
  if (raw.size() != size) return std::nullopt;
  return PubKey{kind, Plain(head, raw, scratch)};
}

std::optional<PubKey> MultisigFromValue(std::string_view value, int depth, Scratch* scratch) {
  amino::FieldReader reader(value);
  uint64_t threshold = 0;
  absl::InlinedVector<std::string_view, 8> members;
  size_t size = 0;
  while (reader.Next(1u << 2)) {
    if (reader.field() == 1) {
      if (!reader.Uvarint(&threshold)) break;
    } else if (reader.field() == 2) {
      std::string_view bytes;
      if (!reader.Bytes(&bytes)) break;
      const std::optional<PubKey> member = PubKey::FromAny(bytes, depth + 1, scratch);
      if (!member.has_value()) return std::nullopt;
      members.push_back(member->any);
      size += 1 + amino::UvarintSize(member->any.size()) + member->any.size();
    } else {
      return std::nullopt;
    }
  }
  if (!reader.ok()) return std::nullopt;
  size += amino::UvarintFieldSize(threshold);
  amino::Writer writer(scratch->Allocate(2 + kMultisigUrl.size() + amino::BytesFieldSize(size)));
  const char* const begin = writer.position();
  writer.BytesField(1, kMultisigUrl);
  if (writer.MessageField(2, size)) {
    writer.UvarintField(1, threshold);
    for (const std::string_view member : members) {
      writer.Tag(2, amino::WireType::kBytes);
      writer.Uvarint(member.size());
      writer.Raw(member);
    }
  }
  return PubKey{Kind::kMultisig, std::string_view(begin, writer.size())};
}

std::optional<PubKey> MockFromValue(std::string_view value, Scratch* scratch) {
  std::string_view raw;
  if (!UnwrapBytes(value, &raw)) return std::nullopt;
  const size_t wrapped = amino::BytesFieldSize(raw.size());
  amino::Writer writer(scratch->Allocate(2 + kMockUrl.size() + amino::BytesFieldSize(wrapped)));
  const char* const begin = writer.position();
  writer.BytesField(1, kMockUrl);
  if (writer.MessageField(2, wrapped)) writer.BytesField(1, raw);
  return PubKey{Kind::kMock, std::string_view(begin, writer.size())};
}

void AppendBase64(std::string_view bytes, std::string* out) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j) {
      group = group << 8 | (i + j < bytes.size() ? static_cast<uint8_t>(bytes[i + j]) : 0u);
    }
    for (size_t j = 0; j < 4; ++j) {
      out->push_back(i + j <= bytes.size() ? kDigits[group >> (18 - 6 * j) & 63] : '=');
    }
  }
}

bool VerifyEd25519(std::string_view key, std::string_view message, std::string_view signature) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> parsed(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr,
                                  reinterpret_cast<const unsigned char*>(key.data()), key.size()),
      EVP_PKEY_free);
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        EVP_MD_CTX_free);
  return parsed != nullptr && context != nullptr &&
         EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, parsed.get()) == 1 &&
         EVP_DigestVerify(context.get(), reinterpret_cast<const unsigned char*>(signature.data()),
                          signature.size(), reinterpret_cast<const unsigned char*>(message.data()),
                          message.size()) == 1;
}

bool VerifyMultisig(const PubKey& key, std::string_view message, std::string_view signature) {
  const std::optional<Multisignature> parsed = Multisignature::Parse(signature);
  if (!parsed.has_value()) return false;
  const MultisigKey multisig = MultisigKey::From(key);
  const int64_t size = parsed->size();
  if (static_cast<int64_t>(multisig.members.size()) != size) return false;
  const auto threshold = static_cast<int64_t>(multisig.threshold);
  const auto given = static_cast<int64_t>(parsed->signatures.size());
  if (given < threshold || given > size) return false;
  int64_t marked = 0;
  for (int64_t i = 0; i < size; ++i) marked += parsed->Has(i) ? 1 : 0;
  if (marked < threshold) return false;
  size_t next = 0;
  for (int64_t i = 0; i < size; ++i) {
    if (!parsed->Has(i)) continue;
    const PubKey& member = multisig.members[static_cast<size_t>(i)];
    if (next >= parsed->signatures.size()) throw sdk::Panic("index out of range");
    if (member.is_none()) throw sdk::Panic("invalid memory address or nil pointer dereference");
    if (!VerifySignature(member, message, parsed->signatures[next])) return false;
    ++next;
  }
  return true;
}

}  // namespace

std::optional<PubKey> PubKey::FromAny(std::string_view bytes, int depth, Scratch* scratch) {
  if (depth > amino::kMaxAnyDepth) return std::nullopt;
  if (bytes.empty()) return PubKey{};
  if (bytes.size() == kSecp256k1Head.size() + kSecp256k1Size &&
      bytes.substr(0, kSecp256k1Head.size()) == kSecp256k1Head) {
    return PubKey{Kind::kSecp256k1, bytes};
  }
  amino::Any any;
  if (!amino::DecodeAny(bytes, &any)) return std::nullopt;
  if (any.name == "tm.PubKeySecp256k1")
    return PlainFromValue(Kind::kSecp256k1, kSecp256k1Head, kSecp256k1Size, any.value, scratch);
  if (any.name == "tm.PubKeyEd25519")
    return PlainFromValue(Kind::kEd25519, kEd25519Head, kEd25519Size, any.value, scratch);
  if (any.name == "tm.PubKeyMultisig") return MultisigFromValue(any.value, depth, scratch);
  if (any.name == "tm.PubKeyMock") return MockFromValue(any.value, scratch);
  return std::nullopt;
}

std::string_view PubKey::raw() const {
  switch (kind) {
    case Kind::kSecp256k1:
      return any.substr(kSecp256k1Head.size());
    case Kind::kEd25519:
      return any.substr(kEd25519Head.size());
    case Kind::kMock: {
      amino::Any decoded;
      std::string_view bytes;
      if (amino::DecodeAny(any, &decoded)) UnwrapBytes(decoded.value, &bytes);
      return bytes;
    }
    case Kind::kNone:
    case Kind::kMultisig:
      break;
  }
  return {};
}

Address PubKey::ToAddress() const {
  Address address;
  switch (kind) {
    case Kind::kSecp256k1: {
      const storage::Hash hash = storage::Sha256(raw());
      RIPEMD160(hash.data(), hash.size(), address.bytes.data());
      break;
    }
    case Kind::kEd25519:
    case Kind::kMultisig: {
      const storage::Hash hash = storage::Sha256(kind == Kind::kMultisig ? any : raw());
      std::memcpy(address.bytes.data(), hash.data(), address.bytes.size());
      break;
    }
    case Kind::kMock: {
      const std::string_view bytes = raw();
      if (bytes.size() > address.bytes.size())
        throw sdk::Panic("PubKeyMock cannot have pubkey greater than 20 bytes");
      std::memcpy(address.bytes.data() + address.bytes.size() - bytes.size(), bytes.data(),
                  bytes.size());
      break;
    }
    case Kind::kNone:
      throw sdk::Panic("invalid memory address or nil pointer dereference");
  }
  return address;
}

int PubKey::CountSubKeys() const {
  if (kind != Kind::kMultisig) return 1;
  int count = 0;
  for (const PubKey& member : MultisigKey::From(*this).members) count += member.CountSubKeys();
  return count;
}

void PubKey::AppendJson(std::string* out) const {
  switch (kind) {
    case Kind::kNone:
      out->append("null");
      return;
    case Kind::kSecp256k1:
      out->append("{\"@type\":\"/tm.PubKeySecp256k1\",\"value\":\"");
      break;
    case Kind::kEd25519:
      out->append("{\"@type\":\"/tm.PubKeyEd25519\",\"value\":\"");
      break;
    case Kind::kMock:
      if (raw().empty()) {
        out->append("{\"@type\":\"/tm.PubKeyMock\",\"value\":null}");
        return;
      }
      out->append("{\"@type\":\"/tm.PubKeyMock\",\"value\":\"");
      break;
    case Kind::kMultisig: {
      const MultisigKey multisig = MultisigKey::From(*this);
      out->append("{\"@type\":\"/tm.PubKeyMultisig\",\"pubkeys\":");
      if (multisig.members.empty()) {
        out->append("null");
      } else {
        for (size_t i = 0; i < multisig.members.size(); ++i) {
          out->push_back(i == 0 ? '[' : ',');
          multisig.members[i].AppendJson(out);
        }
        out->push_back(']');
      }
      out->append(",\"threshold\":\"").append(std::to_string(multisig.threshold)).append("\"}");
      return;
    }
  }
  AppendBase64(raw(), out);
  out->append("\"}");
}

MultisigKey MultisigKey::From(const PubKey& key) {
  MultisigKey multisig;
  amino::Any any;
  if (!amino::DecodeAny(key.any, &any)) return multisig;
  amino::FieldReader reader(any.value);
  while (reader.Next(1u << 2)) {
    if (reader.field() == 1) {
      reader.Uvarint(&multisig.threshold);
      continue;
    }
    std::string_view bytes;
    if (!reader.Bytes(&bytes)) break;
    // Canonical already, so nothing is rewritten.
    PubKey member;
    amino::Any member_any;
    if (!bytes.empty() && amino::DecodeAny(bytes, &member_any)) {
      member.any = bytes;
      member.kind = member_any.name == "tm.PubKeySecp256k1" ? Kind::kSecp256k1
                    : member_any.name == "tm.PubKeyEd25519" ? Kind::kEd25519
                    : member_any.name == "tm.PubKeyMock"    ? Kind::kMock
                                                            : Kind::kMultisig;
    }
    multisig.members.push_back(member);
  }
  return multisig;
}

std::optional<Multisignature> Multisignature::Parse(std::string_view bytes) {
  Multisignature signature;
  amino::FieldReader reader(bytes);
  while (reader.Next(1u << 2)) {
    std::string_view field;
    if (reader.field() > 2 || !reader.Bytes(&field)) return std::nullopt;
    if (reader.field() == 2) {
      signature.signatures.push_back(field);
      continue;
    }
    amino::FieldReader array(field);
    while (array.Next()) {
      if (array.field() == 1) {
        if (!array.Uvarint(&signature.extra_bits) || signature.extra_bits > 255)
          return std::nullopt;
      } else if (array.field() != 2 || !array.Bytes(&signature.bits)) {
        return std::nullopt;
      }
    }
    if (!array.ok()) return std::nullopt;
  }
  if (!reader.ok()) return std::nullopt;
  return signature;
}

int64_t Multisignature::size() const {
  const auto bytes = static_cast<int64_t>(bits.size());
  if (extra_bits == 0) return bytes * 8;
  return (bytes - 1) * 8 + static_cast<int64_t>(extra_bits);
}

bool Multisignature::Has(int64_t i) const {
  const auto byte = static_cast<size_t>(i >> 3);
  if (byte >= bits.size()) throw sdk::Panic("index out of range");
  return (static_cast<uint8_t>(bits[byte]) >> (7 - i % 8) & 1) != 0;
}

bool VerifySignature(const PubKey& key, std::string_view message, std::string_view signature) {
  switch (key.kind) {
    case Kind::kSecp256k1:
      return sdk::VerifySecp256k1(key.raw(), message, signature);
    case Kind::kEd25519:
      return signature.size() == 64 && VerifyEd25519(key.raw(), message, signature);
    case Kind::kMultisig:
      return VerifyMultisig(key, message, signature);
    case Kind::kMock: {
      const auto hex = [](std::string_view bytes) {
        constexpr char kDigits[] = "0123456789ABCDEF";
        std::string text;
        for (const char c : bytes) {
          text.push_back(kDigits[static_cast<uint8_t>(c) >> 4]);
          text.push_back(kDigits[static_cast<uint8_t>(c) & 15]);
        }
        return text;
      };
      return signature == "signature-for-" + hex(message) + "-by-" + hex(key.raw());
    }
    case Kind::kNone:
      break;
  }
  throw sdk::Panic("invalid memory address or nil pointer dereference");
}

}  // namespace blockreplay::keeper::gno
