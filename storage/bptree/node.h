#pragma once

// Nodes of the B+32 tree in memory. A node is shared by all versions that contain it and frozen
// once it has a key; before that only the version being built has it. Counts are not atomic: a tree
// belongs to one thread at a time.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "storage/bptree/hash.h"
#include "storage/commit_tree.h"

namespace blockreplay::storage::bptree {

// Keys of a leaf, children of an inner node.
inline constexpr int kBranching = 32;
inline constexpr int kMinLeafKeys = kBranching / 2;
inline constexpr int kMinSeparators = kMinLeafKeys - 1;
inline constexpr size_t kMaxKeySize = size_t{1} << 20;

// Names a node record or a value record: the version that made it and a number within it.
struct RecordKey {
  int64_t version = 0;  // 0: not named yet
  uint32_t nonce = 0;
  friend bool operator==(const RecordKey&, const RecordKey&) = default;
};

template <typename T>
class Ref {
 public:
  Ref() = default;
  // Takes a new count.
  explicit Ref(T* object) : object_(object) {
    if (object_ != nullptr) ++object_->refs;
  }
  Ref(const Ref& other) : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr && --object_->refs == 0) T::Destroy(object_);
  }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  T* object_ = nullptr;
};

// A separator key.
struct SharedKey {
  uint32_t refs = 0;
  uint32_t size = 0;

  static Ref<SharedKey> Make(std::string_view bytes);
  static void Destroy(SharedKey* key);
  std::string_view view() const { return {reinterpret_cast<const char*>(this + 1), size}; }
};

// A key with its value.
struct Entry {
  uint32_t refs = 0;
  // Position among the entries whose records are yet to be written, or kNotPending.
  uint32_t pending_index = kNotPending;
  RecordKey value_key;
  uint32_t key_size = 0;
  uint32_t value_size = 0;
  bool has_value = true;  // false: the value is in the database only
  bool value_hashed = false;
  bool slot_hashed = false;
  Hash value_hash;
  Hash slot_hash;

  static constexpr uint32_t kNotPending = UINT32_MAX;

  static Ref<Entry> Make(std::string_view key, std::string_view value);
  static void Destroy(Entry* entry);
  // The same key and hashes with the value that `entry` was loaded without.
  static Ref<Entry> WithValue(const Entry& entry, std::string_view value);
  // A key whose value is not loaded.
  static Ref<Entry> Unloaded(std::string_view key, const Hash& value_hash, RecordKey value_key);

  const char* data() const { return reinterpret_cast<const char*>(this + 1); }
  std::string_view key() const { return {data(), key_size}; }
  std::string_view value() const { return {data() + key_size, value_size}; }
  size_t memory_bytes() const { return sizeof(Entry) + key_size + value_size; }

  const Hash& ValueHash();
  const Hash& SlotHash();
};

// The first eight bytes as a number: a < b implies prefix(a) <= prefix(b), so that most comparisons
// in a search need no access to the keys themselves.
inline uint64_t KeyPrefix(std::string_view key) {
  uint64_t prefix = 0;
  if (key.size() >= 8) {
    __builtin_memcpy(&prefix, key.data(), 8);
    return __builtin_bswap64(prefix);
  }
  for (size_t i = 0; i < key.size(); ++i) {
    prefix |= static_cast<uint64_t>(static_cast<uint8_t>(key[i])) << (56 - 8 * i);
  }
  return prefix;
}

struct LeafNode;
struct InnerNode;

struct Node {
  uint32_t refs = 0;
  uint16_t height = 0;  // 0: a LeafNode
  // Leaf: number of keys. Inner: number of children.
  uint16_t count = 0;
  // Name of this node's record; none while the version being built may change the node.
  RecordKey record;
  bool hash_valid = false;
  bool recently_used = true;
  // Slots whose hash differs from what `pairs` was computed from.
  uint32_t stale_slots = UINT32_MAX;
  Hash hash;
  // Heap of a complete binary tree over 32 slots: the root at 1; slots themselves are not stored.
  std::array<Hash, kBranching> pairs;

  bool is_leaf() const { return height == 0; }
  LeafNode* leaf();
  InnerNode* inner();
  const LeafNode* leaf() const;
  const InnerNode* inner() const;
  int64_t size() const;
  size_t memory_bytes() const;

  // Hashes what changed below. Every child with a changed hash must be in memory.
  const Hash& UpdateHash();
  // Slots from `first` on moved or changed.
  void MarkStaleFrom(int first) {
    hash_valid = false;
    if (first < kBranching) stale_slots |= UINT32_MAX << first;
  }
  void MarkStale(int slot) {
    hash_valid = false;
    stale_slots |= uint32_t{1} << slot;
  }

  static void Destroy(Node* node);
};

struct LeafNode : Node {
  std::array<uint64_t, kBranching> prefixes;
  std::array<Ref<Entry>, kBranching> entries;

  // Position of the first key >= `key`, and whether it is `key`.
  std::pair<int, bool> Find(std::string_view key) const;
  void Assign(int position, Ref<Entry> entry);
  // Requires count < kBranching.
  void Insert(int position, Ref<Entry> entry);
  Ref<Entry> Remove(int position);
  Ref<Node> Clone() const;
};

struct Child {
  Ref<Node> node;    // null: not loaded
  RecordKey record;  // none while `node` is new
  Hash hash;         // as of when `node` was last hashed
  int64_t size = 0;  // keys below
};

struct InnerNode : Node {
  InnerNode() { height = 1; }

  std::array<uint64_t, kBranching - 1> prefixes;
  std::array<Ref<SharedKey>, kBranching - 1> separators;
  std::array<Child, kBranching> children;

  int separator_count() const { return count - 1; }
  // Index of the child that holds `key`: the number of separators <= `key`.
  int FindChild(std::string_view key) const;
  void SetSeparator(int index, Ref<SharedKey> separator);
  // Requires count < kBranching: puts `right` after the child at `index`, with the separator
  // between them.
  void InsertAfter(int index, Ref<SharedKey> separator, Child right);
  // Removes the child at `index` > 0 and the separator before it.
  void RemoveChild(int index);
  Ref<Node> Clone() const;
};

inline LeafNode* Node::leaf() { return static_cast<LeafNode*>(this); }
inline InnerNode* Node::inner() { return static_cast<InnerNode*>(this); }
inline const LeafNode* Node::leaf() const { return static_cast<const LeafNode*>(this); }
inline const InnerNode* Node::inner() const { return static_cast<const InnerNode*>(this); }

}  // namespace blockreplay::storage::bptree
