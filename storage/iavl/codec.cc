#include "storage/iavl/codec.h"

#include <limits>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "storage/sha256.h"

namespace blockreplay::storage::iavl {
namespace {

std::string_view AsView(const Hash& hash) {
  return {reinterpret_cast<const char*>(hash.data()), hash.size()};
}

bool ReadHash(Decoder* in, Hash* hash) {
  std::string_view bytes;
  if (!in->ReadBytes(&bytes) || bytes.size() != kHashSize) return false;
  std::memcpy(hash->data(), bytes.data(), kHashSize);
  return true;
}

const char* ReadHeader(Decoder* in, NodeRecord* record) {
  int64_t height;
  if (!in->ReadVarint(&height) || height < 0 || height > kMaxHeight) return "bad height";
  record->height = static_cast<int32_t>(height);
  if (!in->ReadVarint(&record->size) || record->size < 1) return "bad size";
  if ((record->height == 0) != (record->size == 1)) return "height and size disagree";
  return nullptr;
}

const char* ReadChild(Decoder* in, bool legacy, NodeId* child) {
  child->legacy = legacy;
  if (legacy) return ReadHash(in, &child->hash) ? nullptr : "bad legacy child";
  int64_t nonce;
  if (!in->ReadVarint(&child->version) || child->version < 1) return "bad version of a child";
  if (!in->ReadVarint(&nonce) || nonce < 0 || nonce > std::numeric_limits<uint32_t>::max()) {
    return "bad nonce of a child";
  }
  child->nonce = static_cast<uint32_t>(nonce);
  return nullptr;
}

}  // namespace

std::string NodeId::ToString() const {
  if (legacy) return absl::StrCat("legacy ", absl::BytesToHexString(ForAbsl(AsView(hash))));
  return absl::StrCat("(", version, ",", nonce, ")");
}

ShortKey ShortKey::Node(int64_t version, uint32_t nonce) {
  ShortKey key;
  key.bytes_[0] = kNodePrefix;
  char* p = PutBigEndian64(key.bytes_ + 1, static_cast<uint64_t>(version));
  PutBigEndian32(p, nonce);
  key.size_ = kNodeKeySize;
  return key;
}

ShortKey ShortKey::Node(const NodeId& id) {
  return id.legacy ? LegacyNode(id.hash) : Node(id.version, id.nonce);
}

ShortKey ShortKey::LegacyNode(const Hash& hash) {
  ShortKey key;
  key.bytes_[0] = kLegacyNodePrefix;
  std::memcpy(key.bytes_ + 1, hash.data(), kHashSize);
  key.size_ = 1 + kHashSize;
  return key;
}

ShortKey ShortKey::LegacyRoot(int64_t version) {
  ShortKey key;
  key.bytes_[0] = kLegacyRootPrefix;
  PutBigEndian64(key.bytes_ + 1, static_cast<uint64_t>(version));
  key.size_ = 1 + 8;
  return key;
}

bool Decoder::ReadUvarint(uint64_t* value) {
  uint64_t result = 0;
  for (size_t i = 0; i < bytes_.size() && i < kMaxVarintSize; ++i) {
    const auto byte = static_cast<uint8_t>(bytes_[i]);
    if (i == kMaxVarintSize - 1 && byte > 1) return false;  // more than 64 bits
    result |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      bytes_.remove_prefix(i + 1);
      *value = result;
      return true;
    }
  }
  return false;
}

bool Decoder::ReadVarint(int64_t* value) {
  uint64_t raw;
  if (!ReadUvarint(&raw)) return false;
  *value = static_cast<int64_t>(raw >> 1) ^ -static_cast<int64_t>(raw & 1);
  return true;
}

bool Decoder::ReadBytes(std::string_view* value) {
  uint64_t size;
  if (!ReadUvarint(&size) || size > bytes_.size()) return false;
  *value = bytes_.substr(0, size);
  bytes_.remove_prefix(size);
  return true;
}

const char* DecodeNode(std::string_view bytes, NodeRecord* record) {
  Decoder in(bytes);
  if (const char* error = ReadHeader(&in, record)) return error;
  if (!in.ReadBytes(&record->key)) return "bad key";
  if (record->height == 0) {
    if (!in.ReadBytes(&record->value)) return "bad value";
    return in.empty() ? nullptr : "bytes after the value";
  }
  if (!ReadHash(&in, &record->hash)) return "bad hash";
  int64_t mode;
  if (!in.ReadVarint(&mode) || mode < 0 || mode > 3) return "bad mode";
  for (int side = 0; side < 2; ++side) {
    if (const char* error = ReadChild(&in, (mode >> side & 1) != 0, &record->child[side])) {
      return error;
    }
  }
  return in.empty() ? nullptr : "bytes after the children";
}

const char* DecodeLegacyNode(std::string_view bytes, NodeRecord* record) {
  Decoder in(bytes);
  if (const char* error = ReadHeader(&in, record)) return error;
  if (!in.ReadVarint(&record->version) || record->version < 1) return "bad version";
  if (!in.ReadBytes(&record->key)) return "bad key";
  if (record->height == 0) {
    if (!in.ReadBytes(&record->value)) return "bad value";
    return in.empty() ? nullptr : "bytes after the value";
  }
  for (NodeId& child : record->child) {
    if (const char* error = ReadChild(&in, /*legacy=*/true, &child)) return error;
  }
  return in.empty() ? nullptr : "bytes after the children";
}

const char* DecodeRoot(std::string_view bytes, RootKind* kind, NodeId* target) {
  if (bytes.empty()) {
    *kind = RootKind::kEmpty;
    return nullptr;
  }
  if (bytes[0] != kNodePrefix) {
    *kind = RootKind::kNode;
    return nullptr;
  }
  *kind = RootKind::kReference;
  *target = NodeId();
  if (bytes.size() == kNodeKeySize) {
    target->nonce = GetBigEndian32(bytes.data() + 9);
  } else if (bytes.size() == kNodeKeySize - 4) {
    target->nonce = kRootNonce;  // written by early releases of iavl 1.0
  } else {
    return "bad reference to a root";
  }
  const uint64_t version = GetBigEndian64(bytes.data() + 1);
  if (version < 1 || version > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return "bad version in a reference to a root";
  }
  target->version = static_cast<int64_t>(version);
  return nullptr;
}

void HashInner(int32_t height, int64_t size, int64_t version, const uint8_t* left,
               const uint8_t* right, uint8_t* out) {
  ShortMessage message;
  char* const start = reinterpret_cast<char*>(message.data());
  char* p = PutVarint(start, height);
  p = PutVarint(p, size);
  p = PutVarint(p, version);
  *p++ = kHashSize;
  std::memcpy(p, left, kHashSize);
  p += kHashSize;
  *p++ = kHashSize;
  std::memcpy(p, right, kHashSize);
  p += kHashSize;
  message.Finish(static_cast<size_t>(p - start), out);
}

void HashLeaf(int64_t version, std::string_view key, std::string_view value, uint8_t* out) {
  uint8_t value_hash[kHashSize];
  Sha256(value, value_hash);
  constexpr size_t kFixed = 2 + kMaxVarintSize + kMaxVarintSize + 1 + kHashSize;
  const auto write = [&](char* p) {
    *p++ = 0;  // height 0
    *p++ = 2;  // size 1
    p = PutVarint(p, version);
    p = PutBytes(p, key);
    *p++ = kHashSize;
    std::memcpy(p, value_hash, kHashSize);
    return p + kHashSize;
  };
  if (key.size() + kFixed <= ShortMessage::kCapacity) {
    ShortMessage message;
    char* const start = reinterpret_cast<char*>(message.data());
    message.Finish(static_cast<size_t>(write(start) - start), out);
    return;
  }
  std::string message(key.size() + kFixed, '\0');
  message.resize(static_cast<size_t>(write(message.data()) - message.data()));
  Sha256(message, out);
}

void EncodeLeaf(std::string_view key, std::string_view value, std::string* out) {
  out->resize(2 + 2 * kMaxVarintSize + key.size() + value.size());
  char* p = out->data();
  *p++ = 0;  // height 0
  *p++ = 2;  // size 1
  p = PutBytes(p, key);
  p = PutBytes(p, value);
  out->resize(static_cast<size_t>(p - out->data()));
}

void EncodeInner(int32_t height, int64_t size, std::string_view key, const uint8_t* hash,
                 const NodeId& left, const NodeId& right, std::string* out) {
  out->resize(9 * kMaxVarintSize + key.size() + 3 * (1 + kHashSize));
  char* p = out->data();
  p = PutVarint(p, height);
  p = PutVarint(p, size);
  p = PutBytes(p, key);
  p = PutBytes(p, {reinterpret_cast<const char*>(hash), kHashSize});
  p = PutVarint(p, (left.legacy ? 1 : 0) | (right.legacy ? 2 : 0));
  for (const NodeId* child : {&left, &right}) {
    if (child->legacy) {
      p = PutBytes(p, AsView(child->hash));
    } else {
      p = PutVarint(p, child->version);
      p = PutVarint(p, child->nonce);
    }
  }
  out->resize(static_cast<size_t>(p - out->data()));
}

void EncodeOmitted(int32_t height, int64_t size, const Hash& hash, std::string* out) {
  out->resize(1 + 2 * kMaxVarintSize + 1 + kHashSize);
  char* p = out->data();
  *p++ = kOmittedPrefix;
  p = PutVarint(p, height);
  p = PutVarint(p, size);
  p = PutBytes(p, AsView(hash));
  out->resize(static_cast<size_t>(p - out->data()));
}

const char* DecodeOmitted(std::string_view bytes, int32_t* height, int64_t* size, Hash* hash) {
  if (!IsOmitted(bytes)) return "not an omitted subtree";
  Decoder in(bytes.substr(1));
  NodeRecord record;
  if (const char* error = ReadHeader(&in, &record)) return error;
  if (!ReadHash(&in, hash)) return "bad hash";
  *height = record.height;
  *size = record.size;
  return in.empty() ? nullptr : "bytes after the hash";
}

void EncodeFastNode(int64_t version, std::string_view value, std::string* out) {
  out->resize(2 * kMaxVarintSize + value.size());
  char* p = PutVarint(out->data(), version);
  p = PutBytes(p, value);
  out->resize(static_cast<size_t>(p - out->data()));
}

}  // namespace blockreplay::storage::iavl
