#include "storage/iavl/editor.h"

#include <algorithm>

namespace blockreplay::storage::iavl {
namespace {

// Balance seen from one side: positive where that side is the higher one.
int Lean(int balance, int side) { return side == kLeft ? balance : -balance; }

}  // namespace

void Editor::Orphan(Inner* parent, int side) {
  Node* node = parent->child[side];
  if (parent->legacy(side)) {
    Hash hash;
    std::memcpy(hash.data(), parent->hash(side), kHashSize);
    orphans->legacy.push_back(hash);
    return;
  }
  const int64_t version = parent->version(side);
  orphans->keys.push_back({version, parent->nonce(side)});
  if (parent->nonce(side) == 0) {
    // A root that was moved when its version was pruned, or rewritten from a legacy node, whose
    // record then goes too.
    if (!parent->hash_valid(side) && node->is_leaf()) {
      HashLeaf(version, AsLeaf(node)->key(), AsLeaf(node)->value(), parent->hash(side));
      parent->set_hash_valid(side, true);
    }
    if (parent->hash_valid(side)) {
      Hash hash;
      std::memcpy(hash.data(), parent->hash(side), kHashSize);
      orphans->legacy.push_back(hash);
    }
  }
}

void Editor::MarkNew(Inner* parent, int side) {
  parent->version(side) = working_version;
  parent->nonce(side) = 0;
  parent->flags = static_cast<uint8_t>(parent->flags & ~((kLegacyLeft | kHashValidLeft) << side));
}

void Editor::AttachNew(Inner* parent, int side, Node* node) {
  parent->child[side] = node;
  MarkNew(parent, side);
  dirty_bytes += BlockBytes(node);
}

Inner* Editor::Mutable(Inner* parent, int side) {
  Inner* node = AsInner(parent->child[side]);
  if (!IsNew(parent, side)) {
    Orphan(parent, side);
    if (parent->version(side) <= store_->persisted_version) dirty_bytes += BlockBytes(node);
  }
  if (node->refs > 1) {
    Inner* copy = store_->CopyInner(node, node->key());
    --node->refs;
    parent->child[side] = copy;
    node = copy;
  }
  MarkNew(parent, side);
  MarkUsed(node);
  return node;
}

Inner* Editor::LoadMutable(Inner* parent, int side, absl::Status* status) {
  Node* node = store_->Child(parent, side, status);
  if (node == nullptr) return nullptr;
  if (node->is_leaf()) {
    *status = store_->Corrupt(parent->id(side), "a leaf where the balance asks for an inner node");
    return nullptr;
  }
  return Mutable(parent, side);
}

void Editor::Overwrite(Inner* parent, int side, std::string_view value) {
  Leaf* leaf = AsLeaf(parent->child[side]);
  if (!IsNew(parent, side)) {
    Orphan(parent, side);
    if (parent->version(side) <= store_->persisted_version) dirty_bytes += BlockBytes(leaf);
  }
  const size_t bytes = Leaf::Bytes(leaf->key_size, value.size());
  if (leaf->refs == 1 && leaf->size_class != 0 && Arena::ClassOf(bytes) == leaf->size_class) {
    // The new value may be a view of the old one.
    if (!value.empty()) std::memmove(leaf->value_data(), value.data(), value.size());
    leaf->value_size = static_cast<uint32_t>(value.size());
    MarkUsed(leaf);
  } else {
    Leaf* replacement = store_->NewLeaf(leaf->key(), value);
    parent->child[side] = replacement;
    store_->Unref(leaf);
  }
  MarkNew(parent, side);
}

void Editor::Split(Inner* parent, int side, std::string_view key, std::string_view value) {
  Leaf* old = AsLeaf(parent->child[side]);
  Leaf* leaf = store_->NewLeaf(key, value);
  const int new_side = CompareKeys(key, old->key()) < 0 ? kLeft : kRight;
  Inner* inner = store_->NewInner(new_side == kLeft ? old->key() : key);
  inner->size = 2;
  NodeStore::MoveChild(parent, side, inner, 1 - new_side);
  AttachNew(inner, new_side, leaf);
  AttachNew(parent, side, inner);
}

absl::Status Editor::TooHigh() const {
  return store_->Corrupt(anchor_->id(kLeft), "the tree is higher than any balanced one");
}

absl::StatusOr<bool> Editor::Set(std::string_view key, std::string_view value) {
  if (!anchor_->has_root()) {
    anchor_->set_has_root(true);
    AttachNew(anchor_, kLeft, store_->NewLeaf(key, value));
    return false;
  }
  absl::Status status;
  Inner* parent = anchor_;
  int side = kLeft;
  int depth = 0;
  path_[0] = {parent, side};
  while (true) {
    const Node* node = store_->Child(parent, side, &status);
    if (node == nullptr) return status;
    if (node->is_leaf()) break;
    if (depth == kMaxHeight) return TooHigh();
    __builtin_prefetch(AsInner(node)->child[kLeft]);
    __builtin_prefetch(AsInner(node)->child[kRight]);
    parent = Mutable(parent, side);
    side = CompareKeys(key, parent->key()) < 0 ? kLeft : kRight;
    path_[++depth] = {parent, side};
  }
  if (AsLeaf(parent->child[side])->key() == key) {
    Overwrite(parent, side, value);
    return true;
  }
  Split(parent, side, key, value);
  status = Ascend(depth, +1, 1, nullptr);
  if (!status.ok()) return status;
  return false;
}

absl::StatusOr<bool> Editor::Delete(std::string_view key) {
  if (!anchor_->has_root()) return false;
  absl::Status status;
  Inner* parent = anchor_;
  int side = kLeft;
  int depth = 0;
  path_[0] = {parent, side};
  // Nothing may change where the key is absent, so look first.
  Node* node;
  while (true) {
    node = store_->Child(parent, side, &status);
    if (node == nullptr) return status;
    MarkUsed(node);
    if (node->is_leaf()) break;
    if (depth == kMaxHeight) return TooHigh();
    parent = AsInner(node);
    side = CompareKeys(key, parent->key()) < 0 ? kLeft : kRight;
    path_[++depth] = {parent, side};
  }
  if (AsLeaf(node)->key() != key) return false;
  if (depth == 0) {
    if (!IsNew(anchor_, kLeft)) Orphan(anchor_, kLeft);
    store_->ClearRoot(anchor_);
    return true;
  }
  for (int i = 1; i < depth; ++i) path_[i].node = Mutable(path_[i - 1].node, path_[i - 1].side);

  // The sibling takes the place of its parent; leaf and parent are gone.
  const Step above = path_[depth - 1];
  Inner* gone = AsInner(above.node->child[above.side]);
  const int gone_side = path_[depth].side;
  for (const auto& [holder, at] : {above, Step{gone, gone_side}}) {
    if (holder->version(at) <= store_->persisted_version) continue;
    dirty_bytes -= std::min(dirty_bytes, BlockBytes(holder->child[at]));
  }
  if (!IsNew(gone, gone_side)) Orphan(gone, gone_side);
  if (!IsNew(above.node, above.side)) Orphan(above.node, above.side);
  const std::string* new_key = nullptr;
  if (gone_side == kLeft) {
    removed_key_.assign(gone->key());
    new_key = &removed_key_;
  }
  const int height = gone->height - 1;
  NodeStore::MoveChild(gone, 1 - gone_side, above.node, above.side);
  if (Node* sibling = gone->child[1 - gone_side]) NodeStore::Ref(sibling);
  store_->Unref(gone);
  status = Ascend(depth - 1, -1, height, new_key);
  if (!status.ok()) return status;
  return true;
}

Inner* Editor::ReplaceKey(Inner* parent, int side, std::string_view key) {
  Inner* node = AsInner(parent->child[side]);
  if (node->key() == key) return node;
  if (node->key_size == key.size()) {
    std::memcpy(node->key_data(), key.data(), key.size());
    return node;
  }
  Inner* copy = store_->CopyInner(node, key);
  parent->child[side] = copy;
  store_->Unref(node);
  return copy;
}

absl::Status Editor::Ascend(int depth, int delta, int height, const std::string* new_key) {
  bool changed = true;  // the height below did
  for (int i = depth; i > 0; --i) {
    const Step above = path_[i - 1];
    Inner* node = path_[i].node;
    const int side = path_[i].side;
    node->size += delta;
    if (new_key != nullptr && side == kRight) {
      node = ReplaceKey(above.node, above.side, *new_key);
      new_key = nullptr;
    }
    if (!changed) {
      if (delta > 0 || new_key == nullptr) {
        // Only sizes are left to do, and keys further up.
        for (int j = i - 1; j > 0; --j) path_[j].node->size += delta;
        return absl::OkStatus();
      }
      continue;
    }
    if (node->balance == kBalanceUnknown) {
      if (absl::Status s = DeduceBalance(node, side, height - delta, above.node->id(above.side));
          !s.ok()) {
        return s;
      }
    }
    const int old_height = node->height;
    const int balance = node->balance + Lean(delta, side);
    node->balance = static_cast<int8_t>(balance);
    if (balance == 2 || balance == -2) {
      if (absl::Status s = Rebalance(above.node, above.side); !s.ok()) return s;
      node = AsInner(above.node->child[above.side]);
    } else if (delta > 0 ? Lean(balance, side) > 0 : balance == 0) {
      // The side that grew is now the higher one, or the higher one shrank.
      node->height = static_cast<uint8_t>(node->height + delta);
    }
    height = node->height;
    changed = height != old_height;
  }
  return absl::OkStatus();
}

absl::Status Editor::DeduceBalance(Inner* node, int side, int child_height, const NodeId& id) {
  // The higher child is one lower than the node.
  int sibling_height = node->height - 1;
  if (child_height == node->height - 1) {
    absl::Status status;
    const Node* sibling = store_->Child(node, 1 - side, &status);
    if (sibling == nullptr) return status;
    sibling_height = sibling->height;
  }
  const int balance = Lean(child_height - sibling_height, side);
  if (balance < -1 || balance > 1) return store_->Corrupt(id, "not balanced");
  node->balance = static_cast<int8_t>(balance);
  return absl::OkStatus();
}

absl::Status Editor::ResolveBalance(Inner* parent, int side) {
  Inner* node = AsInner(parent->child[side]);
  if (node->balance != kBalanceUnknown) return absl::OkStatus();
  absl::Status status;
  const int known = node->child[kRight] != nullptr ? kRight : kLeft;
  const Node* child = store_->Child(node, known, &status);
  if (child == nullptr) return status;
  return DeduceBalance(node, known, child->height, parent->id(side));
}

absl::StatusOr<int64_t> Editor::SizeOfChild(Inner* node, int side) {
  // The sizes of the two add up: look at the one that is at hand.
  const int known =
      node->child[side] != nullptr || node->child[1 - side] == nullptr ? side : 1 - side;
  absl::Status status;
  const Node* child = store_->Child(node, known, &status);
  if (child == nullptr) return status;
  const int64_t size = child->is_leaf() ? 1 : AsInner(child)->size;
  return known == side ? size : node->size - size;
}

// The child's balance is 2 or -2. The caller has made it changeable.
absl::Status Editor::Rebalance(Inner* parent, int side) {
  absl::Status status;
  Inner* top = AsInner(parent->child[side]);
  const int high = top->balance > 0 ? kLeft : kRight;
  const int low = 1 - high;
  Inner* pivot = LoadMutable(top, high, &status);
  if (pivot == nullptr) return status;
  if (absl::Status s = ResolveBalance(top, high); !s.ok()) return s;
  const int pivot_height = pivot->height;
  if (pivot_height < 2) return store_->Corrupt(top->id(high), "not balanced");
  const int low_height = pivot_height - 2;  // of top's other child
  const int lean = Lean(pivot->balance, high);
  const int64_t top_size = top->size;

  if (lean >= 0) {
    const int outer_height = pivot_height - 1;
    const int middle_height = outer_height - lean;
    const absl::StatusOr<int64_t> middle_size = SizeOfChild(pivot, low);
    if (!middle_size.ok()) return middle_size.status();
    top->size += *middle_size - pivot->size;
    pivot->size = top_size;
    NodeStore::MoveChild(pivot, low, top, high);
    pivot->child[low] = top;
    MarkNew(pivot, low);
    parent->child[side] = pivot;
    top->height = static_cast<uint8_t>(1 + std::max(middle_height, low_height));
    top->balance = static_cast<int8_t>(Lean(middle_height - low_height, high));
    pivot->height = static_cast<uint8_t>(1 + std::max<int>(outer_height, top->height));
    pivot->balance = static_cast<int8_t>(Lean(outer_height - top->height, high));
    return absl::OkStatus();
  }

  Inner* middle = LoadMutable(pivot, low, &status);
  if (middle == nullptr) return status;
  if (absl::Status s = ResolveBalance(pivot, low); !s.ok()) return s;
  const int outer_height = pivot_height - 2;
  const int middle_lean = Lean(middle->balance, high);
  const int middle_high = middle->height - 1 + std::min(middle_lean, 0);
  const int middle_low = middle->height - 1 - std::max(middle_lean, 0);
  const absl::StatusOr<int64_t> middle_high_size = SizeOfChild(middle, high);
  if (!middle_high_size.ok()) return middle_high_size.status();
  top->size += middle->size - *middle_high_size - pivot->size;
  pivot->size += *middle_high_size - middle->size;
  middle->size = top_size;
  NodeStore::MoveChild(middle, low, top, high);
  NodeStore::MoveChild(middle, high, pivot, low);
  middle->child[high] = pivot;
  MarkNew(middle, high);
  middle->child[low] = top;
  MarkNew(middle, low);
  parent->child[side] = middle;
  pivot->height = static_cast<uint8_t>(1 + std::max(outer_height, middle_high));
  pivot->balance = static_cast<int8_t>(Lean(outer_height - middle_high, high));
  top->height = static_cast<uint8_t>(1 + std::max(middle_low, low_height));
  top->balance = static_cast<int8_t>(Lean(middle_low - low_height, high));
  middle->height = static_cast<uint8_t>(1 + std::max(pivot->height, top->height));
  middle->balance = static_cast<int8_t>(Lean(pivot->height - top->height, high));
  return absl::OkStatus();
}

}  // namespace blockreplay::storage::iavl
