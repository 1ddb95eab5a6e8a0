#include "storage/iavl/partial_tree.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "storage/iavl/disk_versions.h"
#include "storage/iavl/node_store.h"
#include "storage/sha256.h"

namespace blockreplay::storage::iavl {
namespace {

class PartialWalk {
 public:
  PartialWalk(const NodeStore* store, const std::function<bool(const NodeId&)>& wanted,
              const std::function<absl::Status(const PartialNode&)>& on_node,
              const std::function<absl::Status(const OmittedSubtree&)>& on_omitted)
      : store_(store), wanted_(wanted), on_node_(on_node), on_omitted_(on_omitted) {}

  // No deeper than `max_height`: heights fall at every step.
  absl::Status Visit(const NodeId& id, int max_height, bool enter) {
    if (id.legacy) {
      return absl::UnimplementedError(absl::StrCat("tree ", store_->prefix(), ", node ",
                                                   id.ToString(),
                                                   ": partial trees have no legacy nodes"));
    }
    std::string bytes;
    bool moved;
    const absl::StatusOr<bool> found = store_->ReadRecord(id, &bytes, &moved);
    if (!found.ok()) return found.status();
    if (!*found) return store_->Corrupt(id, "absent from the database");
    OmittedSubtree omitted{.id = id};
    if (IsOmitted(bytes)) {
      const char* error = DecodeOmitted(bytes, &omitted.height, &omitted.size, &omitted.hash);
      return error != nullptr ? store_->Corrupt(id, error) : on_omitted_(omitted);
    }
    NodeRecord record;
    const char* error = DecodeNode(bytes, &record);
    if (error == nullptr && record.height > max_height) error = "not lower than its parent";
    if (error != nullptr) return store_->Corrupt(id, error);
    if (!enter && !wanted_(id)) {
      omitted.height = record.height;
      omitted.size = record.size;
      omitted.hash = record.hash;
      if (record.height == 0) HashLeaf(id.version, record.key, record.value, omitted.hash.data());
      return on_omitted_(omitted);
    }
    if (record.height > 0) {
      for (const NodeId& child : record.child) {
        if (absl::Status s = Visit(child, record.height - 1, false); !s.ok()) return s;
      }
    }
    return on_node_({.id = id, .height = record.height, .key = record.key, .value = record.value});
  }

 private:
  const NodeStore* store_;
  const std::function<bool(const NodeId&)>& wanted_;
  const std::function<absl::Status(const PartialNode&)>& on_node_;
  const std::function<absl::Status(const OmittedSubtree&)>& on_omitted_;
};

}  // namespace

absl::Status VisitPartialTree(
    const Reader* db, const std::string& prefix, int64_t version,
    const std::function<bool(const NodeId&)>& wanted,
    const std::function<absl::Status(const PartialNode&)>& on_node,
    const std::function<absl::Status(const OmittedSubtree&)>& on_omitted) {
  const NodeStore store(db, prefix);
  const absl::StatusOr<std::optional<NodeId>> root = DiskVersions(&store, false).Root(version);
  if (!root.ok()) return root.status();
  if (!*root) return absl::OkStatus();
  return PartialWalk(&store, wanted, on_node, on_omitted).Visit(**root, kMaxHeight, true);
}

class PartialTreeBuilder::Impl {
 public:
  Impl(std::string prefix, int64_t version, bool fast_nodes)
      : prefix_(std::move(prefix)),
        fast_prefix_(absl::StrCat(prefix_, std::string(1, kFastPrefix))),
        version_(version),
        fast_nodes_(fast_nodes) {}

  absl::Status Add(const PartialNode& node, WriteBatch* batch);
  absl::Status Add(const OmittedSubtree& omitted, WriteBatch* batch);
  absl::StatusOr<Hash> Finish(WriteBatch* batch);

 private:
  // Smallest and largest of the keys that are known below a node, its own included.
  struct KnownKeys {
    std::string first;
    std::string last;
  };
  // A subtree that waits for its parent.
  struct Subtree {
    NodeId id;
    int32_t height;
    int64_t size;
    Hash hash;
    bool omitted;
    std::optional<KnownKeys> keys;
  };

  absl::Status Bad(const NodeId& id, std::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat("partial tree ", prefix_, " at version ",
                                                   version_, ", node ", id.ToString(), ": ",
                                                   ForAbsl(what)));
  }

  absl::Status CheckPlace(const NodeId& id, int32_t height);
  absl::Status Join(const PartialNode& node, Subtree* subtree);
  absl::Status Push(Subtree subtree);
  void Put(const NodeId& id, WriteBatch* batch) {
    batch->Put(prefix_, ShortKey::Node(id.version, id.nonce).view(), record_);
  }

  const std::string prefix_;
  const std::string fast_prefix_;
  const int64_t version_;
  const bool fast_nodes_;
  std::vector<Subtree> stack_;
  absl::flat_hash_set<std::pair<int64_t, uint32_t>> places_;
  std::string record_;
};

absl::Status PartialTreeBuilder::Impl::CheckPlace(const NodeId& id, int32_t height) {
  if (height < 0 || height > kMaxHeight) return Bad(id, "height out of range");
  if (id.version < 1 || id.version > version_) return Bad(id, "version out of range");
  if (!places_.insert({id.version, id.nonce}).second) return Bad(id, "is there twice");
  return absl::OkStatus();
}

absl::Status PartialTreeBuilder::Impl::Push(Subtree subtree) {
  // In post-order no more wait than the tree is high.
  if (stack_.size() > kMaxHeight) return Bad(subtree.id, "too many subtrees without a parent");
  stack_.push_back(std::move(subtree));
  return absl::OkStatus();
}

absl::Status PartialTreeBuilder::Impl::Add(const OmittedSubtree& omitted, WriteBatch* batch) {
  if (absl::Status s = CheckPlace(omitted.id, omitted.height); !s.ok()) return s;
  if (omitted.size < 1 || (omitted.height == 0) != (omitted.size == 1)) {
    return Bad(omitted.id, "height and size disagree");
  }
  EncodeOmitted(omitted.height, omitted.size, omitted.hash, &record_);
  Put(omitted.id, batch);
  return Push({.id = omitted.id,
               .height = omitted.height,
               .size = omitted.size,
               .hash = omitted.hash,
               .omitted = true,
               .keys = std::nullopt});
}

absl::Status PartialTreeBuilder::Impl::Add(const PartialNode& node, WriteBatch* batch) {
  if (absl::Status s = CheckPlace(node.id, node.height); !s.ok()) return s;
  constexpr size_t kMaxPart = size_t{1} << 31;
  if (node.key.size() >= kMaxPart || node.value.size() >= kMaxPart) return Bad(node.id, "too long");
  Subtree subtree{.id = node.id,
                  .height = node.height,
                  .size = 1,
                  .hash = {},
                  .omitted = false,
                  .keys = KnownKeys{std::string(node.key), std::string(node.key)}};
  if (node.height == 0) {
    HashLeaf(node.id.version, node.key, node.value, subtree.hash.data());
    if (fast_nodes_) {
      EncodeFastNode(version_, node.value, &record_);
      batch->Put(fast_prefix_, node.key, record_);
    }
    EncodeLeaf(node.key, node.value, &record_);
  } else {
    if (!node.value.empty()) return Bad(node.id, "an inner node with a value");
    if (absl::Status s = Join(node, &subtree); !s.ok()) return s;
  }
  Put(node.id, batch);
  return Push(std::move(subtree));
}

// Takes the two last subtrees below an inner node, whose record it leaves in record_.
absl::Status PartialTreeBuilder::Impl::Join(const PartialNode& node, Subtree* subtree) {
  if (stack_.size() < 2) return Bad(node.id, "no children");
  Subtree right = std::move(stack_.back());
  stack_.pop_back();
  Subtree left = std::move(stack_.back());
  stack_.pop_back();
  if (node.height != 1 + std::max(left.height, right.height) ||
      std::abs(left.height - right.height) > 1) {
    return Bad(node.id, absl::StrCat("children of heights ", left.height, " and ", right.height));
  }
  if (__builtin_add_overflow(left.size, right.size, &subtree->size)) {
    return Bad(node.id, "sizes of the children out of range");
  }
  if (node.id.version < std::max(left.id.version, right.id.version)) {
    return Bad(node.id, "older than a child");
  }
  if ((left.keys && CompareKeys(left.keys->last, node.key) >= 0) ||
      (right.keys && CompareKeys(node.key, right.keys->first) > 0)) {
    return Bad(node.id, "its key does not divide its children");
  }
  if (left.keys) subtree->keys->first = std::move(left.keys->first);
  if (right.keys) subtree->keys->last = std::move(right.keys->last);
  HashInner(node.height, subtree->size, node.id.version, left.hash.data(), right.hash.data(),
            subtree->hash.data());
  EncodeInner(node.height, subtree->size, node.key, subtree->hash.data(), left.id, right.id,
              &record_);
  return absl::OkStatus();
}

absl::StatusOr<Hash> PartialTreeBuilder::Impl::Finish(WriteBatch* batch) {
  const ShortKey place = ShortKey::Node(version_, kRootNonce);
  if (fast_nodes_) {
    batch->Put(prefix_, kStorageVersionKey,
               absl::StrCat(ForAbsl(kFastStorageVersion), "-", version_));
  }
  if (stack_.empty()) {
    batch->Put(prefix_, place.view(), {});
    return Sha256({});
  }
  const Subtree& root = stack_.back();
  if (stack_.size() > 1) return Bad(root.id, "the tree ends with subtrees that have no parent");
  if (root.omitted) return Bad(root.id, "the root of a tree must not be left out");
  if (!root.id.IsRootOf(version_)) {
    if (root.id.version == version_ || places_.contains({version_, kRootNonce})) {
      return Bad(root.id, "is not where the root of its version must be");
    }
    batch->Put(prefix_, place.view(), ShortKey::Node(root.id.version, root.id.nonce).view());
  }
  return root.hash;
}

PartialTreeBuilder::PartialTreeBuilder(std::string prefix, int64_t version, bool fast_nodes)
    : impl_(std::make_unique<Impl>(std::move(prefix), version, fast_nodes)) {}

PartialTreeBuilder::~PartialTreeBuilder() = default;

absl::Status PartialTreeBuilder::Add(const PartialNode& node, WriteBatch* batch) {
  return impl_->Add(node, batch);
}
absl::Status PartialTreeBuilder::Add(const OmittedSubtree& subtree, WriteBatch* batch) {
  return impl_->Add(subtree, batch);
}
absl::StatusOr<Hash> PartialTreeBuilder::Finish(WriteBatch* batch) { return impl_->Finish(batch); }

}  // namespace blockreplay::storage::iavl
