#include "storage/iavl/node_store.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace blockreplay::storage::iavl {

NodeStore::NodeStore(const Reader* db, std::string prefix) : db_(db), prefix_(std::move(prefix)) {}

NodeStore::~NodeStore() = default;

Leaf* NodeStore::NewLeaf(std::string_view key, std::string_view value) {
  const size_t bytes = Leaf::Bytes(key.size(), value.size());
  const uint8_t size_class = Arena::ClassOf(bytes);
  auto* leaf = static_cast<Leaf*>(arena_.Allocate(bytes, size_class));
  leaf->height = 0;
  leaf->size_class = size_class;
  leaf->balance = 0;
  leaf->flags = kRecentlyUsed;
  leaf->key_size = static_cast<uint32_t>(key.size());
  leaf->refs = 1;
  leaf->value_size = static_cast<uint32_t>(value.size());
  if (!key.empty()) std::memcpy(leaf->key_data(), key.data(), key.size());
  if (!value.empty()) std::memcpy(leaf->value_data(), value.data(), value.size());
  return leaf;
}

Inner* NodeStore::NewInner(std::string_view key) {
  const size_t bytes = Inner::Bytes(key.size());
  const uint8_t size_class = Arena::ClassOf(bytes);
  auto* node = static_cast<Inner*>(arena_.Allocate(bytes, size_class));
  node->height = 1;
  node->size_class = size_class;
  node->balance = 0;
  node->flags = kRecentlyUsed;
  node->key_size = static_cast<uint32_t>(key.size());
  node->refs = 1;
  node->value_size = 0;
  node->size = 0;
  node->child[kLeft] = nullptr;
  node->child[kRight] = nullptr;
  if (!key.empty()) std::memcpy(node->key_data(), key.data(), key.size());
  Inner::Children* children = node->children();
  children->version[kLeft] = children->version[kRight] = 0;
  children->nonce[kLeft] = children->nonce[kRight] = 0;
  return node;
}

Inner* NodeStore::NewAnchor() {
  Inner* anchor = NewInner({});
  anchor->height = kAnchorHeight;
  return anchor;
}

Inner* NodeStore::CopyInner(const Inner* node, std::string_view key) {
  Inner* copy = NewInner(key);
  copy->height = node->height;
  copy->balance = node->balance;
  copy->flags = static_cast<uint8_t>(node->flags | kRecentlyUsed);
  copy->size = node->size;
  std::memcpy(copy->children(), node->children(), sizeof(Inner::Children));
  for (int side = 0; side < 2; ++side) {
    copy->child[side] = node->child[side];
    if (copy->child[side] != nullptr) Ref(copy->child[side]);
  }
  return copy;
}

void NodeStore::FreeShallow(Node* node) { arena_.Free(node, NodeBytes(node), node->size_class); }

void NodeStore::Unref(Node* node) {
  if (--node->refs != 0) return;
  if (!node->is_leaf()) {
    // No deeper than the tree is high: heights fall at every step.
    for (Node* child : AsInner(node)->child) {
      if (child != nullptr) Unref(child);
    }
  }
  FreeShallow(node);
}

void NodeStore::SetStubRoot(Inner* anchor, const NodeId& id) {
  anchor->set_has_root(true);
  anchor->child[kLeft] = nullptr;
  anchor->version(kLeft) = id.version;
  anchor->nonce(kLeft) = id.nonce;
  anchor->set_legacy(kLeft, id.legacy);
  anchor->set_hash_valid(kLeft, id.legacy);
  if (id.legacy) std::memcpy(anchor->hash(kLeft), id.hash.data(), kHashSize);
}

void NodeStore::ClearRoot(Inner* anchor) {
  if (anchor->child[kLeft] != nullptr) Unref(anchor->child[kLeft]);
  anchor->child[kLeft] = nullptr;
  anchor->set_has_root(false);
  anchor->set_legacy(kLeft, false);
  anchor->set_hash_valid(kLeft, false);
  anchor->version(kLeft) = 0;
  anchor->nonce(kLeft) = 0;
}

void NodeStore::MoveChild(Inner* from, int from_side, Inner* to, int to_side) {
  to->child[to_side] = from->child[from_side];
  to->version(to_side) = from->version(from_side);
  to->nonce(to_side) = from->nonce(from_side);
  to->set_legacy(to_side, from->legacy(from_side));
  const bool valid = from->hash_valid(from_side);
  to->set_hash_valid(to_side, valid);
  if (valid) std::memcpy(to->hash(to_side), from->hash(from_side), kHashSize);
}

absl::Status NodeStore::Corrupt(const NodeId& id, std::string_view what) const {
  return absl::DataLossError(
      absl::StrCat("tree ", prefix_, ", node ", id.ToString(), ": ", ForAbsl(what)));
}

absl::Status NodeStore::NoNode(const NodeId& id, std::string_view record,
                               std::string_view what) const {
  if (!IsOmitted(record)) return Corrupt(id, what);
  return absl::OutOfRangeError(absl::StrCat(
      "tree ", prefix_, ", node ", id.ToString(),
      ": left out of this partial state, which has only what the blocks it was made for need"));
}

absl::StatusOr<bool> NodeStore::ReadRecord(const NodeId& id, std::string* record,
                                           bool* moved) const {
  *moved = false;
  db_key_.assign(prefix_);
  db_key_.append(ShortKey::Node(id).view());
  absl::StatusOr<bool> found = db_->Get(db_key_, record);
  if (!found.ok() || *found || id.legacy || id.nonce > kRootNonce) return found;
  // Pruning a version whose root lives on moves that root from nonce 1 to 0: parents written before
  // still name the old place, and a deferred tree names the new place before its next flush.
  *moved = true;
  db_key_.assign(prefix_);
  db_key_.append(ShortKey::Node(id.version, kRootNonce - id.nonce).view());
  return db_->Get(db_key_, record);
}

Node* NodeStore::Load(Inner* parent, int side, absl::Status* status) {
  const NodeId id = parent->id(side);
  bool moved;
  const absl::StatusOr<bool> found = ReadRecord(id, &record_, &moved);
  if (!found.ok()) {
    *status = found.status();
    return nullptr;
  }
  if (!*found) {
    *status = Corrupt(id, "absent from the database");
    return nullptr;
  }
  NodeRecord record;
  const char* error = id.legacy ? DecodeLegacyNode(record_, &record) : DecodeNode(record_, &record);
  // Heights that fall at every step bound every recursion, and no chain of records can be a circle.
  if (error == nullptr && record.height >= parent->height) error = "not lower than its parent";
  if (error == nullptr && parent->height != kAnchorHeight && record.size >= parent->size) {
    error = "not smaller than its parent";
  }
  if (error == nullptr && !id.legacy && record.height > 0 && parent->hash_valid(side) &&
      std::memcmp(record.hash.data(), parent->hash(side), kHashSize) != 0) {
    error = "hash differs from the one its parent has";
  }
  constexpr size_t kMaxPart = std::numeric_limits<uint32_t>::max();
  if (error == nullptr && (record.key.size() > kMaxPart || record.value.size() > kMaxPart)) {
    error = "too long";
  }
  if (error != nullptr) {
    *status = NoNode(id, record_, error);
    return nullptr;
  }
  if (id.legacy) parent->version(side) = record.version;
  if (record.height == 0) {
    parent->child[side] = NewLeaf(record.key, record.value);
    return parent->child[side];
  }
  Inner* node = NewInner(record.key);
  node->height = static_cast<uint8_t>(record.height);
  node->balance = record.height == 1 ? int8_t{0} : kBalanceUnknown;
  node->size = record.size;
  for (int i = 0; i < 2; ++i) {
    const NodeId& child = record.child[i];
    node->version(i) = child.version;
    node->nonce(i) = child.nonce;
    if (child.legacy) {
      node->set_legacy(i, true);
      node->set_hash_valid(i, true);
      std::memcpy(node->hash(i), child.hash.data(), kHashSize);
    }
  }
  if (!id.legacy && !parent->hash_valid(side)) {
    std::memcpy(parent->hash(side), record.hash.data(), kHashSize);
    parent->set_hash_valid(side, true);
  }
  parent->child[side] = node;
  return node;
}

absl::Status NodeStore::EnsureHash(Inner* parent, int side) {
  if (parent->hash_valid(side)) return absl::OkStatus();
  absl::Status status;
  Node* node = Child(parent, side, &status);
  if (node == nullptr) return status;
  if (parent->hash_valid(side)) return absl::OkStatus();
  if (!node->is_leaf()) return Corrupt(parent->id(side), "inner node without a hash");
  HashLeaf(parent->version(side), AsLeaf(node)->key(), AsLeaf(node)->value(), parent->hash(side));
  parent->set_hash_valid(side, true);
  return absl::OkStatus();
}

void NodeStore::Sweep(Inner* anchor, size_t target) {
  if (open_iterators > 0) return;
  // The first round takes what was not used since the last sweep, the second what the first one
  // left.
  for (int round = 0; round < 3 && live_bytes() > target; ++round) {
    const bool resuming = !sweep_hand_.empty();
    if (!SweepBelow(anchor, kLeft, resuming, target)) sweep_hand_.clear();
  }
}

// Returns true if the target was reached and the hand is set to where to go on. Children go before
// their parents, so that the upper levels, which every descent needs, go last.
bool NodeStore::SweepBelow(Inner* parent, int side, bool resuming, size_t target) {
  Node* node = parent->child[side];
  if (node == nullptr) return false;
  bool has_children = false;
  if (!node->is_leaf()) {
    Inner* inner = AsInner(node);
    const bool resume_right = resuming && CompareKeys(sweep_hand_, inner->key()) >= 0;
    if (!resume_right) {
      if (SweepBelow(inner, kLeft, resuming, target)) return true;
      if (live_bytes() <= target) {
        sweep_hand_.assign(inner->key());
        return true;
      }
    }
    if (SweepBelow(inner, kRight, resume_right, target)) return true;
    has_children = inner->child[kLeft] != nullptr || inner->child[kRight] != nullptr;
  }
  if (!has_children && (node->flags & kRecentlyUsed) == 0 && node->refs == 1 &&
      parent->version(side) <= persisted_version) {
    parent->child[side] = nullptr;
    Unref(node);
  } else {
    node->flags = static_cast<uint8_t>(node->flags & ~kRecentlyUsed);
  }
  return false;
}

}  // namespace blockreplay::storage::iavl
