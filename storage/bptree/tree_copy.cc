#include "storage/bptree/tree_copy.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "storage/bptree/hash.h"
#include "storage/bptree/record_reader.h"

namespace blockreplay::storage::bptree {
namespace {

class CopyWalk {
 public:
  CopyWalk(const RecordReader& records, const std::function<absl::Status(const CopiedNode&)>& visit)
      : records_(records), visit_(visit) {}

  // A child is one level lower, so it ends.
  absl::Status Visit(RecordKey name, std::optional<int> height) const {
    const absl::StatusOr<Ref<Node>> read = records_.ReadNode(name, height);
    if (!read.ok()) return read.status();
    const Node& node = **read;
    if (node.is_leaf()) return VisitLeaf(name, *node.leaf());
    const InnerNode& inner = *node.inner();
    for (size_t i = 0; i < inner.count; ++i) {
      const absl::Status status = Visit(inner.children[i].record, inner.height - 1);
      if (!status.ok()) return status;
    }
    CopiedNode copied;
    copied.record = name;
    for (int i = 0; i < inner.separator_count(); ++i) {
      copied.separators.push_back(inner.separators[static_cast<size_t>(i)]->view());
    }
    return visit_(copied);
  }

 private:
  absl::Status VisitLeaf(RecordKey name, const LeafNode& leaf) const {
    CopiedNode copied;
    copied.record = name;
    std::vector<std::string> values(leaf.count);  // records; what is copied points into them
    for (size_t i = 0; i < leaf.count; ++i) {
      const Entry& entry = *leaf.entries[i];
      const absl::StatusOr<std::string_view> value =
          records_.Read(KeyOf(kValueRecord, entry.value_key), &values[i]);
      if (!value.ok()) return value.status();
      copied.entries.push_back({entry.key(), *value, entry.value_key});
    }
    return visit_(copied);
  }

  const RecordReader& records_;
  const std::function<absl::Status(const CopiedNode&)>& visit_;
};

absl::Status Refused(std::string_view problem) {
  return absl::InvalidArgumentError(absl::StrCat("a node of a B+ tree ", std::string(problem)));
}

bool IsKey(std::string_view key) { return !key.empty() && key.size() <= kMaxKeySize; }

}  // namespace

absl::Status VisitTree(const Reader& database, std::string_view key_prefix, int64_t version,
                       const std::function<absl::Status(const CopiedNode&)>& visit) {
  const RecordReader records(database, key_prefix);
  const absl::StatusOr<RootRecord> root = records.ReadRoot(version);
  if (!root.ok()) return root.status();
  if (root->root.version == 0) return absl::OkStatus();
  return CopyWalk(records, visit).Visit(root->root, std::nullopt);
}

void TreeRestorer::Put(char type, RecordKey key, std::string_view record, WriteBatch* batch) {
  batch->Put(prefix_, KeyOf(type, key), record);
}

absl::Status TreeRestorer::Add(const CopiedNode& node, WriteBatch* batch) {
  if (node.record.version <= 0 || node.record.version > version_) {
    return Refused(absl::StrCat("has the version ", node.record.version));
  }
  if (node.entries.empty() == node.separators.empty()) {
    return Refused("has neither entries nor separators, or both");
  }
  return node.separators.empty() ? AddLeaf(node, batch) : AddInner(node, batch);
}

absl::Status TreeRestorer::AddLeaf(const CopiedNode& node, WriteBatch* batch) {
  if (node.entries.size() > static_cast<size_t>(kBranching)) return Refused("has too many entries");
  const Ref<Node> leaf(new LeafNode);
  leaf->count = static_cast<uint16_t>(node.entries.size());
  std::string record;
  for (size_t i = 0; i < node.entries.size(); ++i) {
    const CopiedEntry& from = node.entries[i];
    if (!IsKey(from.key) || (i > 0 && from.key <= node.entries[i - 1].key)) {
      return Refused("has keys out of order");
    }
    if (from.value_key.version <= 0 || from.value_key.version > node.record.version) {
      return Refused(absl::StrCat("has a value of version ", from.value_key.version));
    }
    const Ref<Entry> entry = Entry::Make(from.key, from.value);
    entry->value_key = from.value_key;
    leaf->leaf()->Assign(static_cast<int>(i), entry);
    SealValue(from.value, &record);
    Put(kValueRecord, from.value_key, record, batch);
  }
  const Hash hash = leaf->UpdateHash();
  SealNode(*leaf, &record);
  Put(kNodeRecord, node.record, record, batch);
  waiting_.push_back({.child = {.node = {},
                                .record = node.record,
                                .hash = hash,
                                .size = static_cast<int64_t>(node.entries.size())},
                      .height = 0,
                      .first_key = std::string(node.entries.front().key),
                      .last_key = std::string(node.entries.back().key)});
  if (waiting_.size() > static_cast<size_t>(kBranching) * (kMaxHeight + 1)) {
    return Refused("comes while more wait for their parents than a tree is high");
  }
  return absl::OkStatus();
}

absl::Status TreeRestorer::AddInner(const CopiedNode& node, WriteBatch* batch) {
  const size_t children = node.separators.size() + 1;
  if (children > static_cast<size_t>(kBranching)) return Refused("has too many separators");
  if (children > waiting_.size()) return Refused("comes before its children");
  const auto first = waiting_.end() - static_cast<std::ptrdiff_t>(children);
  if (first->height >= kMaxHeight) return Refused("makes the tree too high");
  const Ref<Node> made(new InnerNode);
  InnerNode& inner = *made->inner();
  inner.height = static_cast<uint16_t>(first->height + 1);
  inner.count = static_cast<uint16_t>(children);
  int64_t size = 0;
  for (size_t i = 0; i < children; ++i) {
    const Subtree& child = first[static_cast<std::ptrdiff_t>(i)];
    if (child.height != first->height) return Refused("has children of several heights");
    if (child.child.record.version > node.record.version) return Refused("is older than a child");
    size += child.child.size;
    inner.children[i] = child.child;
    if (i == 0) continue;
    const std::string_view separator = node.separators[i - 1];
    const std::string_view before = first[static_cast<std::ptrdiff_t>(i) - 1].last_key;
    if (!IsKey(separator) || before >= separator || separator > child.first_key) {
      return Refused("has separators that do not separate its children");
    }
    inner.SetSeparator(static_cast<int>(i - 1), SharedKey::Make(separator));
  }
  const Hash hash = made->UpdateHash();
  std::string record;
  SealNode(*made, &record);
  Put(kNodeRecord, node.record, record, batch);
  Subtree subtree{.child = {.node = {}, .record = node.record, .hash = hash, .size = size},
                  .height = inner.height,
                  .first_key = std::move(first->first_key),
                  .last_key = std::move(waiting_.back().last_key)};
  waiting_.erase(first, waiting_.end());
  waiting_.push_back(std::move(subtree));
  return absl::OkStatus();
}

absl::StatusOr<Hash> TreeRestorer::Finish(WriteBatch* batch) {
  if (waiting_.size() > 1) return Refused("has no parent");
  const bool empty = waiting_.empty();
  const Hash hash = empty ? EmptyTreeHash() : waiting_.front().child.hash;
  std::string record;
  SealRoot(empty ? RecordKey() : waiting_.front().child.record, hash, &record);
  batch->Put(prefix_, KeyOf(kRootRecord, version_), record);
  waiting_.clear();
  return hash;
}

}  // namespace blockreplay::storage::bptree
