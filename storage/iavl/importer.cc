#include "storage/iavl/importer.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "storage/iavl/codec.h"
#include "storage/iavl/node_store.h"
#include "storage/iavl/tree_impl.h"

namespace blockreplay::storage::iavl {

class Importer::Impl {
 public:
  Impl(std::string prefix, const TreeOptions& options, int64_t version,
       const ImportOptions& import_options)
      : options_(options),
        import_options_(import_options),
        version_(version),
        store_(std::make_unique<NodeStore>(nullptr, std::move(prefix))),
        fast_prefix_(absl::StrCat(store_->prefix(), std::string(1, kFastPrefix))) {}

  ~Impl() {
    if (store_ == nullptr) return;
    for (const Subtree& subtree : stack_) Release(subtree);
  }

  absl::Status Add(const ExportNode& node, WriteBatch* batch);
  absl::StatusOr<std::unique_ptr<Tree>> Finish(const Reader* db, WriteBatch* batch);

 private:
  // A subtree that waits for its parent. Its root is the left child of an anchor, as everywhere.
  struct Subtree {
    Inner* anchor;
    Leaf* first;  // each with a reference
    Leaf* last;
  };

  void Release(const Subtree& subtree) {
    store_->Unref(subtree.first);
    store_->Unref(subtree.last);
    store_->Unref(subtree.anchor);
  }

  absl::Status Bad(const ExportNode& node, std::string_view what) const {
    return absl::InvalidArgumentError(
        absl::StrCat("import of tree ", store_->prefix(), " at version ", version_, ", node ",
                     count_, " (height ", node.height, ", key ",
                     absl::BytesToHexString(ForAbsl(node.key)), "): ", ForAbsl(what)));
  }

  absl::Status CheckOptions() const;
  void Emit(const Inner* parent, int side, WriteBatch* batch);

  const TreeOptions options_;
  const ImportOptions import_options_;
  const int64_t version_;
  std::unique_ptr<NodeStore> store_;
  const std::string fast_prefix_;
  std::vector<Subtree> stack_;
  absl::flat_hash_map<int64_t, uint32_t> nonces_;
  uint64_t count_ = 0;
  std::string record_;
};

absl::Status Importer::Impl::CheckOptions() const {
  if (version_ < 1) return absl::InvalidArgumentError(absl::StrCat("import at version ", version_));
  if (options_.persist == Persist::kEvery && !import_options_.write_records) {
    return absl::InvalidArgumentError("persisting every version needs the records of the import");
  }
  if (options_.persist == Persist::kDeferred && options_.fast_nodes) {
    return absl::InvalidArgumentError("fast nodes need every version to be persisted");
  }
  return absl::OkStatus();
}

void Importer::Impl::Emit(const Inner* parent, int side, WriteBatch* batch) {
  const Node* node = parent->child[side];
  if (node->is_leaf()) {
    EncodeLeaf(AsLeaf(node)->key(), AsLeaf(node)->value(), &record_);
  } else {
    const Inner* inner = AsInner(node);
    EncodeInner(inner->height, inner->size, inner->key(), parent->hash(side), inner->id(kLeft),
                inner->id(kRight), &record_);
  }
  batch->Put(store_->prefix(), ShortKey::Node(parent->version(side), parent->nonce(side)).view(),
             record_);
}

absl::Status Importer::Impl::Add(const ExportNode& node, WriteBatch* batch) {
  if (count_ == 0) {
    if (absl::Status s = CheckOptions(); !s.ok()) return s;
  }
  ++count_;
  constexpr size_t kMaxPart = size_t{1} << 31;
  if (node.version < 1 || node.version > version_) return Bad(node, "version out of range");
  if (node.height < 0 || node.height > kMaxHeight) return Bad(node, "height out of range");
  if (node.key.size() >= kMaxPart) return Bad(node, "key too long");
  if ((node.height == 0) != node.value.has_value()) {
    return Bad(node, "leaves have a value, inner nodes have none");
  }
  Subtree subtree{};
  if (node.height == 0) {
    if (node.value->size() >= kMaxPart) return Bad(node, "value too long");
    if (!stack_.empty() && CompareKeys(stack_.back().last->key(), node.key) >= 0) {
      return Bad(node, "keys are not ascending");
    }
    Leaf* leaf = store_->NewLeaf(node.key, *node.value);
    subtree.first = subtree.last = leaf;
    leaf->refs = 3;
    subtree.anchor = store_->NewAnchor();
    subtree.anchor->child[kLeft] = leaf;
    HashLeaf(node.version, node.key, *node.value, subtree.anchor->hash(kLeft));
    if (options_.fast_nodes) {
      EncodeFastNode(version_, *node.value, &record_);
      batch->Put(fast_prefix_, node.key, record_);
    }
  } else {
    if (stack_.size() < 2) return Bad(node, "no children");
    const Subtree right = stack_.back();
    const Subtree left = stack_[stack_.size() - 2];
    Node* const children[2] = {left.anchor->child[kLeft], right.anchor->child[kLeft]};
    const int heights[2] = {children[kLeft]->height, children[kRight]->height};
    const int balance = heights[kLeft] - heights[kRight];
    if (node.height != 1 + std::max(heights[kLeft], heights[kRight]) || balance < -1 ||
        balance > 1) {
      return Bad(node,
                 absl::StrCat("children of heights ", heights[kLeft], " and ", heights[kRight]));
    }
    if (CompareKeys(left.last->key(), node.key) >= 0 ||
        CompareKeys(node.key, right.first->key()) > 0) {
      return Bad(node, "its key does not divide its children");
    }
    if (node.version < std::max(left.anchor->version(kLeft), right.anchor->version(kLeft))) {
      return Bad(node, "older than a child");
    }
    stack_.resize(stack_.size() - 2);
    Inner* inner = store_->NewInner(node.key);
    inner->height = static_cast<uint8_t>(node.height);
    inner->balance = static_cast<int8_t>(balance);
    subtree.anchor = left.anchor;
    subtree.first = left.first;
    subtree.last = right.last;
    store_->Unref(left.last);
    store_->Unref(right.first);
    for (int side = 0; side < 2; ++side) {
      Inner* anchor = side == kLeft ? left.anchor : right.anchor;
      inner->size += children[side]->is_leaf() ? 1 : AsInner(children[side])->size;
      if (import_options_.write_records) Emit(anchor, kLeft, batch);
      NodeStore::MoveChild(anchor, kLeft, inner, side);
    }
    right.anchor->child[kLeft] = nullptr;
    store_->FreeShallow(right.anchor);
    HashInner(inner->height, inner->size, node.version, inner->hash(kLeft), inner->hash(kRight),
              subtree.anchor->hash(kLeft));
    subtree.anchor->child[kLeft] = inner;
    if (import_options_.write_records && store_->live_bytes() > import_options_.memory_limit) {
      for (Node*& child : inner->child) {
        store_->Unref(child);
        child = nullptr;
      }
    }
  }
  subtree.anchor->set_has_root(true);
  subtree.anchor->set_hash_valid(kLeft, true);
  subtree.anchor->version(kLeft) = node.version;
  // Nonce 1 is left for the root.
  subtree.anchor->nonce(kLeft) = ++nonces_[node.version] + 1;
  stack_.push_back(subtree);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Tree>> Importer::Impl::Finish(const Reader* db, WriteBatch* batch) {
  if (absl::Status s = CheckOptions(); !s.ok()) return s;
  if (stack_.size() > 1) {
    return absl::InvalidArgumentError(absl::StrCat("import of tree ", store_->prefix(),
                                                   ": the stream ends with ", stack_.size(),
                                                   " subtrees without a parent"));
  }
  Inner* anchor = stack_.empty() ? store_->NewAnchor() : stack_.back().anchor;
  if (!stack_.empty()) {
    anchor->nonce(kLeft) = kRootNonce;
    store_->Unref(stack_.back().first);
    store_->Unref(stack_.back().last);
    stack_.clear();
  }
  if (import_options_.write_records) {
    const ShortKey place = ShortKey::Node(version_, kRootNonce);
    if (!anchor->has_root()) {
      batch->Put(store_->prefix(), place.view(), {});
    } else {
      Emit(anchor, kLeft, batch);
      if (anchor->version(kLeft) < version_) {
        batch->Put(store_->prefix(), place.view(),
                   ShortKey::Node(anchor->version(kLeft), kRootNonce).view());
      }
    }
    if (options_.fast_nodes) {
      batch->Put(store_->prefix(), kStorageVersionKey,
                 absl::StrCat(ForAbsl(kFastStorageVersion), "-", version_));
    }
    store_->persisted_version = version_;
  }
  store_->set_db(db);
  auto impl = std::make_unique<Tree::Impl>(std::move(store_), anchor, options_, version_);
  return std::unique_ptr<Tree>(new Tree(std::move(impl)));
}

Importer::Importer(std::string prefix, const TreeOptions& options, int64_t version,
                   const ImportOptions& import_options)
    : impl_(std::make_unique<Impl>(std::move(prefix), options, version, import_options)) {}

Importer::~Importer() = default;

absl::Status Importer::Add(const ExportNode& node, WriteBatch* batch) {
  return impl_->Add(node, batch);
}

absl::StatusOr<std::unique_ptr<Tree>> Importer::Finish(const Reader* db, WriteBatch* batch) {
  return impl_->Finish(db, batch);
}

}  // namespace blockreplay::storage::iavl
