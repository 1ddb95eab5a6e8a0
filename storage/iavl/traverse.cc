#include "storage/iavl/traverse.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace blockreplay::storage::iavl {
namespace {

// Heights fall by one or two at each step of a balanced tree, so real trees need no more.
constexpr size_t kUsualDepth = 48;

class TreeIterator : public Iterator {
 public:
  TreeIterator(NodeStore* store, Inner* anchor, const KeyRange& range, Direction direction)
      : store_(store), range_(range), forward_(direction == Direction::kForward) {
    ++store_->open_iterators;
    if (!anchor->has_root() || (range_.end && *range_.end <= range_.start)) return;
    Node* root = store_->Child(anchor, kLeft, &status_);
    if (root == nullptr) return;
    NodeStore::Ref(root);
    root_ = root;
    Seek();
  }

  ~TreeIterator() override {
    --store_->open_iterators;
    if (root_ != nullptr) store_->Unref(root_);
  }

  bool Valid() const override { return leaf_ != nullptr; }
  std::string_view key() const override { return leaf_->key(); }
  std::string_view value() const override { return leaf_->value(); }
  absl::Status status() const override {
    if (!absl::IsOutOfRange(status_)) return status_;
    return absl::OutOfRangeError(absl::StrCat("iteration ", forward_ ? "from" : "down to",
                                              " key 0x", absl::BytesToHexString(range_.start), ": ",
                                              status_.message()));
  }

  void Next() override {
    leaf_ = nullptr;
    LeaveFarSides();
    if (path_.empty()) return;
    const Step step = path_.back();
    path_.pop_back();
    const int near = forward_ ? kLeft : kRight;
    if (step.loads_near) Drop(step.node, near);
    if (step.node->child[1 - near] == nullptr) far_loads_.push_back({step.node, path_.size()});
    DescendFrom(step.node, 1 - near);
    CheckBound();
  }

 private:
  // A node whose far side is still to be visited.
  struct Step {
    Inner* node;
    bool loads_near;  // its near side was not in memory
  };
  // A node whose far side was not in memory and is being visited while the path is longer than
  // `depth`.
  struct FarLoad {
    Inner* node;
    size_t depth;
  };

  // What a scan has read goes again where memory is short, so that scans do not fill it.
  void Drop(Inner* parent, int side) {
    Node* node = parent->child[side];
    if (node == nullptr || node->refs != 1 || store_->open_iterators != 1 ||
        store_->live_bytes() <= store_->memory_target ||
        parent->version(side) > store_->persisted_version) {
      return;
    }
    parent->child[side] = nullptr;
    store_->Unref(node);
  }

  void LeaveFarSides() {
    while (!far_loads_.empty() && far_loads_.back().depth == path_.size()) {
      Drop(far_loads_.back().node, forward_ ? kRight : kLeft);
      far_loads_.pop_back();
    }
  }

  // Goes to the child and on to the first leaf below it in our direction.
  void DescendFrom(Inner* parent, int side) {
    const int near = forward_ ? kLeft : kRight;
    while (true) {
      Node* node = store_->Child(parent, side, &status_);
      if (node == nullptr) return;
      MarkUsed(node);
      if (node->is_leaf()) {
        leaf_ = AsLeaf(node);
        return;
      }
      parent = AsInner(node);
      // It is next after what is below the near side.
      if (Node* far = parent->child[1 - near]) __builtin_prefetch(far);
      path_.push_back({parent, parent->child[near] == nullptr});
      side = near;
    }
  }

  // To the first leaf of the range in our direction.
  void Seek() {
    Node* node = root_;
    while (!node->is_leaf()) {
      MarkUsed(node);
      Inner* inner = AsInner(node);
      int side;
      if (forward_) {
        side = CompareKeys(range_.start, inner->key()) < 0 ? kLeft : kRight;
        if (side == kLeft) path_.push_back({inner, inner->child[kLeft] == nullptr});
      } else {
        // All keys on the right are at least the node's key.
        side = range_.end && CompareKeys(*range_.end, inner->key()) <= 0 ? kLeft : kRight;
        if (side == kRight) path_.push_back({inner, inner->child[kRight] == nullptr});
      }
      node = store_->Child(inner, side, &status_);
      if (node == nullptr) return;
    }
    leaf_ = AsLeaf(node);
    const bool before = forward_ ? CompareKeys(leaf_->key(), range_.start) < 0
                                 : range_.end && CompareKeys(leaf_->key(), *range_.end) >= 0;
    if (before) {
      Next();
    } else {
      CheckBound();
    }
  }

  void CheckBound() {
    if (leaf_ == nullptr) return;
    const bool past = forward_ ? range_.end && CompareKeys(leaf_->key(), *range_.end) >= 0
                               : CompareKeys(leaf_->key(), range_.start) < 0;
    if (past) {
      leaf_ = nullptr;
      path_.clear();
    }
  }

  NodeStore* store_;
  const KeyRange range_;
  const bool forward_;
  Node* root_ = nullptr;
  absl::InlinedVector<Step, kUsualDepth> path_;
  std::vector<FarLoad> far_loads_;  // inner ones last
  const Leaf* leaf_ = nullptr;
  absl::Status status_;
};

// Drops a child again that was not in memory before it was visited.
class Visit {
 public:
  Visit(NodeStore* store, Inner* parent, int side, absl::Status* status)
      : store_(store), parent_(parent), side_(side), resident_(parent->child[side] != nullptr) {
    node_ = store->Child(parent, side, status);
  }
  ~Visit() {
    if (resident_ || node_ == nullptr || store_->open_iterators > 0) return;
    parent_->child[side_] = nullptr;
    store_->Unref(node_);
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

  Node* node() const { return node_; }

 private:
  NodeStore* store_;
  Inner* parent_;
  int side_;
  bool resident_;
  Node* node_;
};

absl::Status ExportBelow(NodeStore* store, Inner* parent, int side,
                         const std::function<absl::Status(const ExportNode&)>& visit) {
  absl::Status status;
  Visit visiting(store, parent, side, &status);
  Node* node = visiting.node();
  if (node == nullptr) return status;
  ExportNode out;
  out.version = parent->version(side);
  out.height = node->height;
  if (node->is_leaf()) {
    out.key = AsLeaf(node)->key();
    out.value = AsLeaf(node)->value();
    return visit(out);
  }
  for (int i = 0; i < 2; ++i) {
    if (absl::Status s = ExportBelow(store, AsInner(node), i, visit); !s.ok()) return s;
  }
  out.key = AsInner(node)->key();
  return visit(out);
}

absl::Status LeavesSinceBelow(
    NodeStore* store, Inner* parent, int side, int64_t after,
    const std::function<absl::Status(std::string_view, std::string_view, int64_t)>& visit) {
  absl::Status status;
  // A legacy child's version is not known before it is loaded.
  if (!parent->legacy(side) && parent->version(side) <= after) return status;
  Visit visiting(store, parent, side, &status);
  Node* node = visiting.node();
  if (node == nullptr) return status;
  if (parent->version(side) <= after) return status;
  if (node->is_leaf()) {
    return visit(AsLeaf(node)->key(), AsLeaf(node)->value(), parent->version(side));
  }
  for (int i = 0; i < 2; ++i) {
    if (absl::Status s = LeavesSinceBelow(store, AsInner(node), i, after, visit); !s.ok()) return s;
  }
  return status;
}

// Subtrees of one tree that are still to be compared, the one with the smallest keys on top.
class Cursor {
 public:
  Cursor(NodeStore* store, Inner* anchor) : store_(store) {
    if (anchor->has_root()) stack_.push_back({anchor, kLeft});
  }

  bool empty() const { return stack_.empty(); }
  Inner* parent() const { return stack_.back().parent; }
  int side() const { return stack_.back().side; }
  Node* Top(absl::Status* status) { return store_->Child(parent(), side(), status); }
  void Pop() { stack_.pop_back(); }
  // Replaces the node on top by its children.
  void Expand(Inner* node) {
    stack_.pop_back();
    stack_.push_back({node, kRight});
    stack_.push_back({node, kLeft});
  }

 private:
  struct Entry {
    Inner* parent;
    int side;
  };
  NodeStore* store_;
  absl::InlinedVector<Entry, kUsualDepth> stack_;
};

// Certain only if true.
bool SameNode(const Cursor& a, const Cursor& b) {
  const Inner* pa = a.parent();
  const Inner* pb = b.parent();
  const int sa = a.side();
  const int sb = b.side();
  if (pa->legacy(sa) || pb->legacy(sb)) {
    return pa->hash_valid(sa) && pb->hash_valid(sb) &&
           std::memcmp(pa->hash(sa), pb->hash(sb), kHashSize) == 0;
  }
  // Nonces 0 and 1 name the same node, before and after pruning moved it.
  return pa->version(sa) == pb->version(sb) &&
         std::max(pa->nonce(sa), kRootNonce) == std::max(pb->nonce(sb), kRootNonce);
}

// Gives `b` the node of `a`, which is the same and of the same store, if only `a` has it in memory.
void Share(const Cursor& a, const Cursor& b) {
  Inner* const from = a.parent();
  Inner* const to = b.parent();
  Node* const node = from->child[a.side()];
  // That heights fall at every step is checked where records are loaded; so it is here.
  if (node == nullptr || to->child[b.side()] != nullptr || node->height >= to->height) return;
  NodeStore::Ref(node);
  to->child[b.side()] = node;
  to->version(b.side()) = from->version(a.side());
  if (from->hash_valid(a.side()) && !to->hash_valid(b.side())) {
    std::memcpy(to->hash(b.side()), from->hash(a.side()), kHashSize);
    to->set_hash_valid(b.side(), true);
  }
}

}  // namespace

const Leaf* FindLeaf(NodeStore* store, Inner* anchor, std::string_view key, absl::Status* status) {
  if (!anchor->has_root()) return nullptr;
  Node* node = store->Child(anchor, kLeft, status);
  if (node == nullptr) return nullptr;
  while (true) {
    MarkUsed(node);
    if (node->is_leaf()) break;
    Inner* inner = AsInner(node);
    __builtin_prefetch(inner->child[0]);
    __builtin_prefetch(inner->child[1]);
    const int side = CompareKeys(key, inner->key()) < 0 ? kLeft : kRight;
    node = store->Child(inner, side, status);
    if (node == nullptr) return nullptr;
  }
  const Leaf* leaf = AsLeaf(node);
  return leaf->key() == key ? leaf : nullptr;
}

std::unique_ptr<Iterator> NewTreeIterator(NodeStore* store, Inner* anchor, const KeyRange& range,
                                          Direction direction) {
  return std::make_unique<TreeIterator>(store, anchor, range, direction);
}

absl::Status ExportNodes(NodeStore* store, Inner* anchor,
                         const std::function<absl::Status(const ExportNode&)>& visit) {
  if (!anchor->has_root()) return absl::OkStatus();
  return ExportBelow(store, anchor, kLeft, visit);
}

absl::StatusOr<std::optional<MembershipPath>> FindPath(NodeStore* store, Inner* anchor,
                                                       std::string_view key) {
  if (!anchor->has_root()) return std::nullopt;
  MembershipPath path;
  absl::Status status;
  Inner* parent = anchor;
  int side = kLeft;
  Node* node;
  while (true) {
    node = store->Child(parent, side, &status);
    if (node == nullptr) return status;
    MarkUsed(node);
    if (node->is_leaf()) break;
    Inner* inner = AsInner(node);
    PathStep step;
    step.height = inner->height;
    step.size = inner->size;
    step.version = parent->version(side);
    side = CompareKeys(key, inner->key()) < 0 ? kLeft : kRight;
    step.sibling_is_left = side == kRight;
    if (absl::Status s = store->EnsureHash(inner, 1 - side); !s.ok()) return s;
    std::memcpy(step.sibling.data(), inner->hash(1 - side), kHashSize);
    path.steps.push_back(step);
    parent = inner;
  }
  const Leaf* leaf = AsLeaf(node);
  if (leaf->key() != key) return std::nullopt;
  path.key = leaf->key();
  path.value = leaf->value();
  path.version = parent->version(side);
  std::reverse(path.steps.begin(), path.steps.end());
  return path;
}

absl::Status VisitLeavesSince(
    NodeStore* store, Inner* anchor, int64_t after,
    const std::function<absl::Status(std::string_view key, std::string_view value,
                                     int64_t version)>& visit) {
  if (!anchor->has_root()) return absl::OkStatus();
  return LeavesSinceBelow(store, anchor, kLeft, after, visit);
}

absl::Status VisitDifferences(
    NodeStore* from_store, Inner* from, NodeStore* to_store, Inner* to,
    const std::function<absl::Status(std::string_view key, std::optional<std::string_view> before,
                                     std::optional<std::string_view> after)>& visit) {
  Cursor a(from_store, from);
  Cursor b(to_store, to);
  absl::Status status;
  while (!a.empty() || !b.empty()) {
    if (!a.empty() && !b.empty() && SameNode(a, b)) {
      if (from_store == to_store) Share(a, b);
      a.Pop();
      b.Pop();
      continue;
    }
    Node* na = nullptr;
    Node* nb = nullptr;
    if (!a.empty() && (na = a.Top(&status)) == nullptr) return status;
    if (!b.empty() && (nb = b.Top(&status)) == nullptr) return status;
    // Going down on the higher side brings equal subtrees to the top of both.
    const int ha = na == nullptr ? -1 : na->height;
    const int hb = nb == nullptr ? -1 : nb->height;
    if (ha > 0 && ha >= hb) a.Expand(AsInner(na));
    if (hb > 0 && hb >= ha) b.Expand(AsInner(nb));
    if (ha > 0 || hb > 0) continue;
    const Leaf* la = na == nullptr ? nullptr : AsLeaf(na);
    const Leaf* lb = nb == nullptr ? nullptr : AsLeaf(nb);
    const int order = la == nullptr ? 1 : lb == nullptr ? -1 : CompareKeys(la->key(), lb->key());
    if (order < 0) {
      status = visit(la->key(), la->value(), std::nullopt);
      a.Pop();
    } else if (order > 0) {
      status = visit(lb->key(), std::nullopt, lb->value());
      b.Pop();
    } else {
      // The same leaf under two names, where only one of them is a legacy one.
      if (a.parent()->version(a.side()) != b.parent()->version(b.side())) {
        status = visit(la->key(), la->value(), lb->value());
      }
      a.Pop();
      b.Pop();
    }
    if (!status.ok()) return status;
  }
  return status;
}

}  // namespace blockreplay::storage::iavl
