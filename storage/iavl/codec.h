#pragma once

// The bytes of IAVL: database keys, records, hash preimages (fixtures/iavl/SPEC.md, sections 2 and
// 3).

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "absl/strings/string_view.h"
#include "storage/commit_tree.h"

namespace blockreplay::storage::iavl {

// First byte of a database key below the store's prefix.
inline constexpr char kNodePrefix = 's';
inline constexpr char kFastPrefix = 'f';
inline constexpr char kMetadataPrefix = 'm';
inline constexpr char kLegacyNodePrefix = 'n';
inline constexpr char kLegacyRootPrefix = 'r';
inline constexpr char kLegacyOrphanPrefix = 'o';
inline constexpr std::string_view kStorageVersionKey = "mstorage_version";
inline constexpr std::string_view kFastStorageVersion = "1.1.0";

inline constexpr size_t kHashSize = 32;
inline constexpr size_t kMaxVarintSize = 10;
// Go keeps heights as int8; a tree of 2^63 leaves is no higher than 91.
inline constexpr int kMaxHeight = 127;
inline constexpr uint32_t kRootNonce = 1;

// Debian builds Abseil with a string_view of its own.
inline absl::string_view ForAbsl(std::string_view text) { return {text.data(), text.size()}; }

// Where a node is kept. Legacy nodes (before iavl 1.0) are kept under their hash.
struct NodeId {
  int64_t version = 0;
  uint32_t nonce = 0;
  bool legacy = false;
  Hash hash{};  // legacy only

  bool IsRootOf(int64_t root_version) const {
    return !legacy && version == root_version && nonce == kRootNonce;
  }
  // For messages.
  std::string ToString() const;
};

inline char* PutUvarint(char* p, uint64_t value) {
  while (value >= 0x80) {
    *p++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *p++ = static_cast<char>(value);
  return p;
}

inline char* PutVarint(char* p, int64_t value) {
  return PutUvarint(p, (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
}

inline char* PutBytes(char* p, std::string_view bytes) {
  p = PutUvarint(p, bytes.size());
  if (!bytes.empty()) std::memcpy(p, bytes.data(), bytes.size());
  return p + bytes.size();
}

inline char* PutBigEndian64(char* p, uint64_t value) {
  value = __builtin_bswap64(value);
  std::memcpy(p, &value, sizeof(value));
  return p + sizeof(value);
}

inline char* PutBigEndian32(char* p, uint32_t value) {
  value = __builtin_bswap32(value);
  std::memcpy(p, &value, sizeof(value));
  return p + sizeof(value);
}

inline uint64_t GetBigEndian64(const char* p) {
  uint64_t value;
  std::memcpy(&value, p, sizeof(value));
  return __builtin_bswap64(value);
}

inline uint32_t GetBigEndian32(const char* p) {
  uint32_t value;
  std::memcpy(&value, p, sizeof(value));
  return __builtin_bswap32(value);
}

// A database key below a store's prefix, built without allocation.
class ShortKey {
 public:
  static ShortKey Node(int64_t version, uint32_t nonce);
  static ShortKey Node(const NodeId& id);  // legacy or not
  static ShortKey LegacyNode(const Hash& hash);
  static ShortKey LegacyRoot(int64_t version);

  std::string_view view() const { return {bytes_, size_}; }

 private:
  char bytes_[1 + kHashSize];
  size_t size_ = 0;
};

inline constexpr size_t kNodeKeySize = 1 + 8 + 4;  // 's' version nonce

// Reads from untrusted bytes; nothing is read past the end.
class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : bytes_(bytes) {}

  bool ReadUvarint(uint64_t* value);
  bool ReadVarint(int64_t* value);
  // A view into the input.
  bool ReadBytes(std::string_view* value);
  bool empty() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
};

// A node's record, pointing into the bytes it was read from.
struct NodeRecord {
  int32_t height = 0;
  int64_t size = 0;
  std::string_view key;
  std::string_view value;  // leaves
  int64_t version = 0;     // legacy records only
  // Inner nodes.
  Hash hash{};  // not in legacy records
  NodeId child[2];
};

// Null if the record is sound, else what is wrong with it. Checks everything that one record alone
// can show.
const char* DecodeNode(std::string_view bytes, NodeRecord* record);
const char* DecodeLegacyNode(std::string_view bytes, NodeRecord* record);

// What stands at (version, 1).
enum class RootKind { kEmpty, kReference, kNode };

// For a reference, `*target` is set. Null if sound.
const char* DecodeRoot(std::string_view bytes, RootKind* kind, NodeId* target);

// In the place of a node's record: the subtree below was left out of a partial state
// (partial_tree.h). No node's record begins like it.
inline constexpr char kOmittedPrefix = 1;
inline bool IsOmitted(std::string_view record) {
  return !record.empty() && record[0] == kOmittedPrefix;
}
void EncodeOmitted(int32_t height, int64_t size, const Hash& hash, std::string* out);
// Null if sound.
const char* DecodeOmitted(std::string_view bytes, int32_t* height, int64_t* size, Hash* hash);

// Hash of an inner node.
void HashInner(int32_t height, int64_t size, int64_t version, const uint8_t* left,
               const uint8_t* right, uint8_t* out);
// Hash of a leaf; hashes the value first.
void HashLeaf(int64_t version, std::string_view key, std::string_view value, uint8_t* out);

// Records, written over `*out`.
void EncodeLeaf(std::string_view key, std::string_view value, std::string* out);
void EncodeInner(int32_t height, int64_t size, std::string_view key, const uint8_t* hash,
                 const NodeId& left, const NodeId& right, std::string* out);
void EncodeFastNode(int64_t version, std::string_view value, std::string* out);

}  // namespace blockreplay::storage::iavl
