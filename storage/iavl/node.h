#pragma once

// Nodes in memory. A node does not know its own version, nonce and hash: they stand in its parent,
// beside the pointer to it. So rehashing a path reads the nodes of the path only and never their
// siblings, a descent learns what it needs to mark a path as changed without touching the child,
// and a child that is not in memory needs no object at all.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "storage/iavl/codec.h"

namespace blockreplay::storage::iavl {

inline constexpr int kLeft = 0;
inline constexpr int kRight = 1;

// Height of the anchor: the parent of a root, so that a root has version, nonce and hash like any
// other node. Its left child is the root, or nothing.
inline constexpr uint8_t kAnchorHeight = 255;

// A loaded node does not know the heights of its children until it has to.
inline constexpr int8_t kBalanceUnknown = 100;

enum NodeFlags : uint8_t {
  kHashValidLeft =
      1,  // hash[kLeft] is the left child's; kHashValidLeft << kRight for the right one
  kHashValidRight = 2,
  kLegacyLeft =
      4,  // the left child is kept under its hash; its version may be 0 until it is loaded
  kLegacyRight = 8,
  kPresentLeft = 16,  // anchors only: there is a root
  kRecentlyUsed = 32,
};

struct Node {
  uint8_t height;
  uint8_t size_class;  // see Arena
  int8_t balance;      // inner nodes: height of the left child minus that of the right one
  uint8_t flags;
  uint32_t key_size;
  uint32_t refs;
  uint32_t value_size;  // leaves

  bool is_leaf() const { return height == 0; }
};
static_assert(sizeof(Node) == 16);

// Followed by the key and the value.
struct Leaf : Node {
  char* key_data() { return reinterpret_cast<char*>(this + 1); }
  const char* key_data() const { return reinterpret_cast<const char*>(this + 1); }
  std::string_view key() const { return {key_data(), key_size}; }
  char* value_data() { return key_data() + key_size; }
  std::string_view value() const { return {key_data() + key_size, value_size}; }

  static size_t Bytes(size_t key_size, size_t value_size) {
    return sizeof(Leaf) + key_size + value_size;
  }
};

// Followed by the key and, aligned, by `Children`. A descent through a key of up to 24 bytes reads
// one cache line.
struct Inner : Node {
  int64_t size;
  Node* child[2];  // null: not in memory

  struct Children {
    int64_t version[2];
    uint32_t nonce[2];
    uint8_t hash[2][kHashSize];
  };

  char* key_data() { return reinterpret_cast<char*>(this + 1); }
  const char* key_data() const { return reinterpret_cast<const char*>(this + 1); }
  std::string_view key() const { return {key_data(), key_size}; }

  static size_t ChildrenOffset(size_t key_size) {
    return (sizeof(Inner) + key_size + alignof(Children) - 1) / alignof(Children) *
           alignof(Children);
  }
  static size_t Bytes(size_t key_size) { return ChildrenOffset(key_size) + sizeof(Children); }

  Children* children() {
    return reinterpret_cast<Children*>(reinterpret_cast<char*>(this) + ChildrenOffset(key_size));
  }
  const Children* children() const {
    return reinterpret_cast<const Children*>(reinterpret_cast<const char*>(this) +
                                             ChildrenOffset(key_size));
  }

  int64_t& version(int side) { return children()->version[side]; }
  int64_t version(int side) const { return children()->version[side]; }
  uint32_t& nonce(int side) { return children()->nonce[side]; }
  uint32_t nonce(int side) const { return children()->nonce[side]; }
  uint8_t* hash(int side) { return children()->hash[side]; }
  const uint8_t* hash(int side) const { return children()->hash[side]; }

  bool hash_valid(int side) const { return (flags & (kHashValidLeft << side)) != 0; }
  void set_hash_valid(int side, bool on) { SetFlag(kHashValidLeft << side, on); }
  bool legacy(int side) const { return (flags & (kLegacyLeft << side)) != 0; }
  void set_legacy(int side, bool on) { SetFlag(kLegacyLeft << side, on); }
  // Of an anchor.
  bool has_root() const { return (flags & kPresentLeft) != 0; }
  void set_has_root(bool on) { SetFlag(kPresentLeft, on); }

  NodeId id(int side) const {
    NodeId id;
    id.legacy = legacy(side);
    if (id.legacy) {
      std::memcpy(id.hash.data(), hash(side), kHashSize);
    }
    id.version = version(side);
    id.nonce = nonce(side);
    return id;
  }

 private:
  void SetFlag(int flag, bool on) {
    flags = static_cast<uint8_t>(on ? flags | flag : flags & ~flag);
  }
};
static_assert(sizeof(Inner) == 40);

inline const Leaf* AsLeaf(const Node* node) { return static_cast<const Leaf*>(node); }
inline Leaf* AsLeaf(Node* node) { return static_cast<Leaf*>(node); }
inline const Inner* AsInner(const Node* node) { return static_cast<const Inner*>(node); }
inline Inner* AsInner(Node* node) { return static_cast<Inner*>(node); }

inline size_t NodeBytes(const Node* node) {
  return node->is_leaf() ? Leaf::Bytes(node->key_size, node->value_size)
                         : Inner::Bytes(node->key_size);
}

inline uint64_t LoadBigEndian64(const char* p) {
  uint64_t word;
  std::memcpy(&word, p, sizeof(word));
  return __builtin_bswap64(word);
}

// Unsigned bytes; negative, zero or positive. Eight at a time: keys are short, and a call of memcmp
// costs more than comparing them.
inline int CompareKeys(std::string_view a, std::string_view b) {
  const size_t common = a.size() < b.size() ? a.size() : b.size();
  size_t at = 0;
  for (; at + 8 <= common; at += 8) {
    const uint64_t left = LoadBigEndian64(a.data() + at);
    const uint64_t right = LoadBigEndian64(b.data() + at);
    if (left != right) return left < right ? -1 : 1;
  }
  if (common >= 8) {
    // The last eight bytes, some of them for the second time.
    const uint64_t left = LoadBigEndian64(a.data() + common - 8);
    const uint64_t right = LoadBigEndian64(b.data() + common - 8);
    if (left != right) return left < right ? -1 : 1;
  } else {
    for (; at < common; ++at) {
      const auto left = static_cast<uint8_t>(a[at]);
      const auto right = static_cast<uint8_t>(b[at]);
      if (left != right) return left < right ? -1 : 1;
    }
  }
  return a.size() < b.size() ? -1 : (a.size() > b.size() ? 1 : 0);
}

inline void PrefetchHeader(const Node* node) { __builtin_prefetch(node); }

// The lines that hold most of a node.
inline void PrefetchNode(const Node* node) {
  const char* start = reinterpret_cast<const char*>(node);
  __builtin_prefetch(start);
  __builtin_prefetch(start + 64);
  __builtin_prefetch(start + 128);
}

inline void MarkUsed(Node* node) {
  // The test keeps the cache line clean where the bit is set already.
  if ((node->flags & kRecentlyUsed) == 0) {
    node->flags = static_cast<uint8_t>(node->flags | kRecentlyUsed);
  }
}

}  // namespace blockreplay::storage::iavl
