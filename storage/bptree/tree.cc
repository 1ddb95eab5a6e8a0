#include "storage/bptree/tree.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace blockreplay::storage::bptree {
namespace {

// More versions than a node keeps without pruning; what is forgotten is read from the database.
constexpr size_t kMaxRememberedVersions = 4096;

std::string Hex(std::string_view key) {
  return absl::BytesToHexString(absl::string_view(key.data(), key.size()));
}

absl::Status WithContext(const absl::Status& status, const char* what, std::string_view key) {
  return absl::Status(status.code(),
                      absl::StrCat(status.message(), " (", what, " ", Hex(key), ")"));
}

// The key of a record below the tree's prefix.
std::string Join(std::string prefix, std::string_view key) {
  prefix.append(key);
  return prefix;
}

bool CanSpare(const Node& node) {
  return node.is_leaf() ? node.count > kMinLeafKeys
                        : node.inner()->separator_count() > kMinSeparators;
}

Child NewChild(Ref<Node> node) {
  Child child;
  child.size = node->size();
  child.node = std::move(node);
  return child;
}

using RecordKeySet = absl::flat_hash_set<std::pair<int64_t, uint32_t>>;

}  // namespace

class Tree::Sink {
 public:
  Sink(Tree* tree, WriteBatch* batch) : tree_(tree), batch_(batch) {}

  void Put(std::string key, const std::string& sealed) {
    if (deferred()) {
      tree_->dirty_bytes_ += key.size() + sealed.size();
      tree_->unflushed_.insert_or_assign(std::move(key), sealed);
    } else {
      batch_->Put(tree_->options_.key_prefix, key, sealed);
    }
  }
  void Delete(std::string key) {
    if (!deferred()) {
      batch_->Delete(tree_->options_.key_prefix, key);
      return;
    }
    // Records that are written at most once: one that waits here isn't in the database.
    const auto found = tree_->unflushed_.find(key);
    if (found != tree_->unflushed_.end() && found->second.has_value()) {
      tree_->dirty_bytes_ -= key.size() + found->second->size();
      tree_->unflushed_.erase(found);
    } else {
      tree_->unflushed_.insert_or_assign(std::move(key), std::nullopt);
    }
  }
  void DeleteAll(char type) {
    const std::string& prefix = tree_->options_.key_prefix;
    batch_->DeleteRange(absl::StrCat(prefix, std::string(1, type)),
                        absl::StrCat(prefix, std::string(1, static_cast<char>(type + 1))));
  }

  // Scratch for sealing.
  std::string record;

 private:
  bool deferred() const { return tree_->options_.persist == Persist::kDeferred; }

  Tree* const tree_;
  WriteBatch* const batch_;
};

absl::StatusOr<std::unique_ptr<Tree>> Tree::Open(const Reader* database, TreeOptions options,
                                                 int64_t version) {
  std::unique_ptr<Tree> tree(new Tree(database, std::move(options)));
  const std::string root_prefix =
      absl::StrCat(tree->options_.key_prefix, std::string(1, kRootRecord));
  const std::unique_ptr<Iterator> roots =
      database->NewIterator(KeyRange::Prefix(root_prefix), Direction::kForward);
  for (; roots->Valid(); roots->Next()) {
    const std::optional<int64_t> found =
        VersionOfRootKey(roots->key().substr(tree->options_.key_prefix.size()));
    if (found.has_value()) tree->versions_.push_back(*found);
  }
  if (!roots->status().ok()) return roots->status();
  if (version == 0) {
    tree->read_only_ = !tree->versions_.empty();
    return tree;
  }

  const std::string root_key = KeyOf(kRootRecord, version);
  absl::StatusOr<std::optional<std::string>> record = tree->ReadRecord(root_key);
  if (!record.ok()) return record.status();
  if (!record->has_value()) {
    return absl::NotFoundError(absl::StrCat("the tree has no version ", version));
  }
  absl::StatusOr<RootRecord> root = ParseRoot(**record);
  if (!root.ok()) return WithContext(root.status(), "root record", root_key);
  tree->version_ = version;
  tree->flushed_version_ = version;
  tree->read_only_ = tree->versions_.back() != version;
  tree->committed_hash_ = root->hash;
  if (root->root.version != 0) {
    absl::StatusOr<Ref<Node>> node = tree->ReadNode(root->root, std::nullopt);
    if (!node.ok()) return node.status();
    (*node)->hash = root->hash;
    (*node)->hash_valid = true;
    tree->root_ = *std::move(node);
    tree->size_ = tree->root_->size();
  }
  tree->committed_size_ = tree->size_;
  if (!tree->in_place()) tree->committed_root_ = tree->root_;

  if (tree->options_.fast_index && tree->options_.persist == Persist::kEvery) {
    absl::StatusOr<std::optional<std::string>> stamp =
        tree->ReadRecord(std::string(kFastIndexVersionKey));
    if (!stamp.ok()) return stamp.status();
    std::string current;
    SealVersion(version, &current);
    tree->fast_index_stale_ =
        !stamp->has_value() || **stamp != absl::string_view(current).substr(0, 8);
  }
  return tree;
}

absl::StatusOr<std::unique_ptr<Tree>> Tree::OpenForOverwriting(const Reader* database,
                                                               TreeOptions options, int64_t version,
                                                               WriteBatch* batch) {
  absl::StatusOr<std::unique_ptr<Tree>> tree = Open(database, std::move(options), version);
  if (!tree.ok() || !(*tree)->read_only_) return tree;
  // Records are ordered by version, whatever comes behind it in the key.
  const std::string& prefix = (*tree)->options_.key_prefix;
  for (const char type : {kNodeRecord, kValueRecord, kRootRecord, kOrphansRecord}) {
    batch->DeleteRange(Join(prefix, KeyOf(type, version + 1)),
                       Join(prefix, std::string(1, static_cast<char>(type + 1))));
  }
  while (!(*tree)->versions_.empty() && (*tree)->versions_.back() > version)
    (*tree)->versions_.pop_back();
  (*tree)->read_only_ = false;
  return tree;
}

absl::StatusOr<int64_t> Tree::LatestVersion(const Reader& database, const TreeOptions& options) {
  const std::unique_ptr<Iterator> roots = database.NewIterator(
      KeyRange::Prefix(absl::StrCat(options.key_prefix, std::string(1, kRootRecord))),
      Direction::kReverse);
  for (; roots->Valid(); roots->Next()) {
    const std::optional<int64_t> found =
        VersionOfRootKey(roots->key().substr(options.key_prefix.size()));
    if (found.has_value()) return *found;
  }
  if (!roots->status().ok()) return roots->status();
  return 0;
}

// ---- Reading ----

absl::StatusOr<std::optional<std::string>> Tree::ReadRecord(std::string_view key) const {
  std::string record;
  const auto found = unflushed_.find(absl::string_view(key.data(), key.size()));
  if (found != unflushed_.end()) {
    if (!found->second.has_value()) return std::nullopt;
    record = *found->second;
  } else {
    absl::StatusOr<bool> exists = database_->Get(Join(options_.key_prefix, key), &record);
    if (!exists.ok()) return exists.status();
    if (!*exists) return std::nullopt;
  }
  absl::StatusOr<std::string_view> payload = Unseal(record);
  if (!payload.ok()) return WithContext(payload.status(), "record", key);
  record.resize(payload->size());
  return record;
}

absl::StatusOr<Ref<Node>> Tree::ReadNode(RecordKey key, std::optional<int> height) const {
  const std::string record_key = KeyOf(kNodeRecord, key);
  absl::StatusOr<std::optional<std::string>> record = ReadRecord(record_key);
  if (!record.ok()) return record.status();
  if (!record->has_value()) {
    return absl::DataLossError(absl::StrCat("node record ", Hex(record_key), " is missing"));
  }
  absl::StatusOr<Ref<Node>> node = ParseNode(key, **record, height);
  if (!node.ok()) return WithContext(node.status(), "node record", record_key);
  memory_bytes_ += (*node)->memory_bytes();
  return node;
}

absl::StatusOr<Node*> Tree::LoadChild(InnerNode* parent, int index) const {
  Child& child = parent->children[static_cast<size_t>(index)];
  if (!child.node) {
    absl::StatusOr<Ref<Node>> node = ReadNode(child.record, parent->height - 1);
    if (!node.ok()) return node.status();
    if ((*node)->size() != child.size) {
      return absl::DataLossError(absl::StrCat("node record ", Hex(KeyOf(kNodeRecord, child.record)),
                                              " holds ", (*node)->size(), " keys, its parent says ",
                                              child.size));
    }
    (*node)->hash = child.hash;
    (*node)->hash_valid = true;
    child.node = *std::move(node);
  }
  return child.node.get();
}

absl::StatusOr<std::string_view> Tree::LoadValue(LeafNode* leaf, int position) const {
  Ref<Entry>& entry = leaf->entries[static_cast<size_t>(position)];
  if (!entry->has_value) {
    const std::string record_key = KeyOf(kValueRecord, entry->value_key);
    absl::StatusOr<std::optional<std::string>> record = ReadRecord(record_key);
    if (!record.ok()) return record.status();
    if (!record->has_value()) {
      return absl::DataLossError(absl::StrCat("value record ", Hex(record_key), " is missing"));
    }
    entry = Entry::WithValue(*entry, **record);
    memory_bytes_ += entry->value_size;
  }
  return entry->value();
}

absl::StatusOr<LeafNode*> Tree::FindLeaf(std::string_view key, int* position) const {
  Node* node = root_.get();
  if (node == nullptr) return nullptr;
  while (!node->is_leaf()) {
    InnerNode* const inner = node->inner();
    const int index = inner->FindChild(key);
    Node* const loaded = inner->children[static_cast<size_t>(index)].node.get();
    if (loaded != nullptr) {
      node = loaded;
    } else {
      absl::StatusOr<Node*> child = LoadChild(inner, index);
      if (!child.ok()) return child.status();
      node = *child;
    }
  }
  node->recently_used = true;
  const auto [found_at, found] = node->leaf()->Find(key);
  *position = found_at;
  return found ? node->leaf() : nullptr;
}

absl::StatusOr<std::optional<std::string_view>> Tree::Find(std::string_view key) const {
  int position = 0;
  absl::StatusOr<LeafNode*> leaf = FindLeaf(key, &position);
  if (!leaf.ok()) return leaf.status();
  if (*leaf == nullptr) return std::nullopt;
  const Entry& entry = *(*leaf)->entries[static_cast<size_t>(position)];
  if (entry.has_value) return entry.value();
  absl::StatusOr<std::string_view> value = LoadValue(*leaf, position);
  if (!value.ok()) return value.status();
  return *value;
}

absl::StatusOr<bool> Tree::Get(std::string_view key, std::string* value) const {
  absl::StatusOr<std::optional<std::string_view>> view = Find(key);
  if (!view.ok()) return view.status();
  if (!view->has_value()) return false;
  value->assign(**view);
  return true;
}

absl::StatusOr<bool> Tree::Has(std::string_view key) const {
  int position = 0;
  absl::StatusOr<LeafNode*> leaf = FindLeaf(key, &position);
  if (!leaf.ok()) return leaf.status();
  return *leaf != nullptr;
}

// ---- Writing ----

void Tree::Edit(Ref<Node>* node) {
  const RecordKey key = (*node)->record;
  if (key.version == 0) return;
  if (in_place()) {
    dead_.nodes.push_back(key);
    (*node)->record = {};
    dirty_bytes_ += (*node)->is_leaf() ? sizeof(LeafNode) : sizeof(InnerNode);
  } else {
    orphans_.nodes.push_back(key);
    *node = (*node)->is_leaf() ? (*node)->leaf()->Clone() : (*node)->inner()->Clone();
  }
}

absl::StatusOr<Node*> Tree::EditChild(InnerNode* parent, int index) {
  absl::StatusOr<Node*> loaded = LoadChild(parent, index);
  if (!loaded.ok()) return loaded;
  Child& child = parent->children[static_cast<size_t>(index)];
  Edit(&child.node);
  child.record = {};
  parent->MarkStale(index);
  return child.node.get();
}

Ref<Node> Tree::NewNode(Node* node) {
  const size_t bytes = node->is_leaf() ? sizeof(LeafNode) : sizeof(InnerNode);
  memory_bytes_ += bytes;
  if (in_place()) dirty_bytes_ += bytes;
  return Ref<Node>(node);
}

void Tree::AddPending(const Ref<Entry>& entry) {
  entry->pending_index = static_cast<uint32_t>(pending_.size());
  pending_.push_back(entry);
  if (in_place()) dirty_bytes_ += entry->memory_bytes();
}

void Tree::RemovePending(Entry* entry) {
  const uint32_t index = entry->pending_index;
  entry->pending_index = Entry::kNotPending;
  if (in_place()) dirty_bytes_ -= entry->memory_bytes();
  // The caller still holds the entry, so that it survives being overwritten here.
  if (index + 1 != pending_.size()) {
    pending_[index] = std::move(pending_.back());
    pending_[index]->pending_index = index;
  }
  pending_.pop_back();
}

void Tree::DropEntry(Entry* entry) {
  memory_bytes_ -= entry->memory_bytes();
  if (entry->pending_index != Entry::kNotPending) {
    RemovePending(entry);
  } else if (in_place()) {
    dead_.values.push_back(entry->value_key);
  } else {
    orphans_.values.push_back(entry->value_key);
  }
}

absl::Status Tree::Set(std::string_view key, std::string_view value) {
  if (key.empty()) return absl::InvalidArgumentError("tree keys must not be empty");
  if (key.size() > kMaxKeySize) {
    return absl::InvalidArgumentError(
        absl::StrCat("tree key of ", key.size(), " bytes is over the limit of ", kMaxKeySize));
  }
  if (read_only_) {
    return absl::FailedPreconditionError(
        absl::StrCat("the tree was opened at version ", version_,
                     " which is not the last one of its database; it is read-only"));
  }
  Ref<Entry> entry = Entry::Make(key, value);
  entry->value_key = {next_version(), next_value_nonce_++};
  changed_ = true;
  memory_bytes_ += entry->memory_bytes();
  AddPending(entry);
  if (!root_) {
    root_ = NewNode(new LeafNode);
    root_->leaf()->Insert(0, std::move(entry));
    size_ = 1;
    return absl::OkStatus();
  }
  Edit(&root_);
  absl::StatusOr<InsertResult> result = Insert(root_.get(), std::move(entry));
  if (!result.ok()) return result.status();
  if (result->added) ++size_;
  if (result->right) {
    Ref<Node> node = NewNode(new InnerNode);
    InnerNode& inner = *node->inner();
    inner.height = static_cast<uint16_t>(root_->height + 1);
    inner.count = 2;
    inner.children[0] = NewChild(std::move(root_));
    inner.children[1] = NewChild(std::move(result->right));
    inner.SetSeparator(0, std::move(result->separator));
    root_ = std::move(node);
  }
  return absl::OkStatus();
}

absl::StatusOr<Tree::InsertResult> Tree::Insert(Node* node, Ref<Entry> entry) {
  if (node->is_leaf()) return InsertIntoLeaf(node->leaf(), std::move(entry));
  InnerNode* const inner = node->inner();
  const int index = inner->FindChild(entry->key());
  absl::StatusOr<Node*> child = EditChild(inner, index);
  if (!child.ok()) return child.status();
  absl::StatusOr<InsertResult> result = Insert(*child, std::move(entry));
  if (!result.ok()) return result;
  Child& slot = inner->children[static_cast<size_t>(index)];
  if (!result->right) {
    if (result->added) ++slot.size;
    return result;
  }
  slot.size = slot.node->size();
  if (inner->count < kBranching) {
    inner->InsertAfter(index, std::move(result->separator), NewChild(std::move(result->right)));
    return InsertResult{.added = result->added, .separator = {}, .right = {}};
  }
  return SplitInner(inner, index, *std::move(result));
}

Tree::InsertResult Tree::InsertIntoLeaf(LeafNode* leaf, Ref<Entry> entry) {
  const auto [position, found] = leaf->Find(entry->key());
  if (found) {
    Ref<Entry> replaced = leaf->entries[static_cast<size_t>(position)];
    leaf->Assign(position, std::move(entry));
    leaf->MarkStale(position);
    DropEntry(replaced.get());
    return {};
  }
  if (leaf->count < kBranching) {
    leaf->Insert(position, std::move(entry));
    return InsertResult{.added = true, .separator = {}, .right = {}};
  }
  return SplitLeaf(leaf, position, std::move(entry));
}

Tree::InsertResult Tree::SplitLeaf(LeafNode* leaf, int position, Ref<Entry> entry) {
  // A key behind all others is most likely the first of a rising sequence: the left leaf stays
  // nearly full. Otherwise both get about half.
  const int left_count = position == kBranching ? kBranching - 1 : kMinLeafKeys + 1;
  std::array<Ref<Entry>, kBranching + 1> all;
  for (int i = 0; i < position; ++i)
    all[static_cast<size_t>(i)] = std::move(leaf->entries[static_cast<size_t>(i)]);
  all[static_cast<size_t>(position)] = std::move(entry);
  for (int i = position; i < kBranching; ++i)
    all[static_cast<size_t>(i + 1)] = std::move(leaf->entries[static_cast<size_t>(i)]);

  Ref<Node> right = NewNode(new LeafNode);
  for (int i = 0; i < left_count; ++i) leaf->Assign(i, std::move(all[static_cast<size_t>(i)]));
  for (int i = left_count; i <= kBranching; ++i)
    right->leaf()->Assign(i - left_count, std::move(all[static_cast<size_t>(i)]));
  leaf->count = static_cast<uint16_t>(left_count);
  leaf->MarkStaleFrom(std::min(position, left_count));
  right->count = static_cast<uint16_t>(kBranching + 1 - left_count);
  Ref<SharedKey> separator = SharedKey::Make(right->leaf()->entries[0]->key());
  return InsertResult{.added = true, .separator = std::move(separator), .right = std::move(right)};
}

Tree::InsertResult Tree::SplitInner(InnerNode* inner, int index, InsertResult from_child) {
  constexpr int kLeftSeparators = kMinLeafKeys;
  std::array<Ref<SharedKey>, kBranching> separators;
  std::array<Child, kBranching + 1> children;
  for (int i = 0; i < kBranching - 1; ++i) {
    separators[static_cast<size_t>(i < index ? i : i + 1)] =
        std::move(inner->separators[static_cast<size_t>(i)]);
  }
  separators[static_cast<size_t>(index)] = std::move(from_child.separator);
  for (int i = 0; i < kBranching; ++i) {
    children[static_cast<size_t>(i <= index ? i : i + 1)] =
        std::move(inner->children[static_cast<size_t>(i)]);
  }
  children[static_cast<size_t>(index + 1)] = NewChild(std::move(from_child.right));

  Ref<Node> node = NewNode(new InnerNode);
  InnerNode& right = *node->inner();
  right.height = inner->height;
  for (int i = 0; i < kLeftSeparators; ++i)
    inner->SetSeparator(i, std::move(separators[static_cast<size_t>(i)]));
  for (int i = 0; i <= kLeftSeparators; ++i)
    inner->children[static_cast<size_t>(i)] = std::move(children[static_cast<size_t>(i)]);
  inner->count = kLeftSeparators + 1;
  inner->MarkStaleFrom(std::min(index, static_cast<int>(inner->count)));
  constexpr int kRightStart = kLeftSeparators + 1;
  for (int i = kRightStart; i < kBranching; ++i)
    right.SetSeparator(i - kRightStart, std::move(separators[static_cast<size_t>(i)]));
  for (int i = kRightStart; i <= kBranching; ++i) {
    right.children[static_cast<size_t>(i - kRightStart)] =
        std::move(children[static_cast<size_t>(i)]);
  }
  right.count = kBranching + 1 - kRightStart;
  return InsertResult{.added = from_child.added,
                      .separator = std::move(separators[kLeftSeparators]),
                      .right = std::move(node)};
}

absl::Status Tree::Delete(std::string_view key) {
  absl::StatusOr<bool> exists = Has(key);
  if (!exists.ok()) return exists.status();
  if (!*exists) return absl::OkStatus();
  if (read_only_) {
    return absl::FailedPreconditionError(
        absl::StrCat("the tree was opened at version ", version_,
                     " which is not the last one of its database; it is read-only"));
  }
  changed_ = true;
  if (!in_place()) removed_keys_.emplace_back(key);
  Edit(&root_);
  absl::StatusOr<bool> underflow = Remove(root_.get(), key);
  if (!underflow.ok()) return underflow.status();
  --size_;
  if (root_->is_leaf()) {
    if (root_->count == 0) {
      memory_bytes_ -= sizeof(LeafNode);
      root_ = {};
    }
  } else if (root_->count == 1) {
    memory_bytes_ -= sizeof(InnerNode);
    Ref<Node> child = root_->inner()->children[0].node;
    root_ = std::move(child);
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> Tree::Remove(Node* node, std::string_view key) {
  if (node->is_leaf()) {
    const Ref<Entry> removed = node->leaf()->Remove(node->leaf()->Find(key).first);
    DropEntry(removed.get());
    return node->count < kMinLeafKeys;
  }
  InnerNode* const inner = node->inner();
  const int index = inner->FindChild(key);
  absl::StatusOr<Node*> child = EditChild(inner, index);
  if (!child.ok()) return child.status();
  absl::StatusOr<bool> underflow = Remove(*child, key);
  if (!underflow.ok()) return underflow;
  --inner->children[static_cast<size_t>(index)].size;
  if (!*underflow) return false;
  absl::StatusOr<bool> merged = Rebalance(inner, index);
  if (!merged.ok()) return merged;
  return *merged && inner->separator_count() < kMinSeparators;
}

// True if two children were merged.
absl::StatusOr<bool> Tree::Rebalance(InnerNode* parent, int index) {
  if (index > 0) {
    absl::StatusOr<Node*> left = LoadChild(parent, index - 1);
    if (!left.ok()) return left.status();
    if (CanSpare(**left)) {
      if (left = EditChild(parent, index - 1); !left.ok()) return left.status();
      BorrowFromLeft(parent, index);
      return false;
    }
  }
  if (index + 1 < parent->count) {
    absl::StatusOr<Node*> right = LoadChild(parent, index + 1);
    if (!right.ok()) return right.status();
    if (CanSpare(**right)) {
      if (right = EditChild(parent, index + 1); !right.ok()) return right.status();
      BorrowFromRight(parent, index);
      return false;
    }
  }
  const int left_index = index > 0 ? index - 1 : index;
  const int sibling = index > 0 ? index - 1 : index + 1;
  absl::StatusOr<Node*> edited = EditChild(parent, sibling);
  if (!edited.ok()) return edited.status();
  Merge(parent, left_index);
  return true;
}

void Tree::BorrowFromLeft(InnerNode* parent, int index) {
  Child& left_child = parent->children[static_cast<size_t>(index - 1)];
  Child& right_child = parent->children[static_cast<size_t>(index)];
  if (left_child.node->is_leaf()) {
    LeafNode& left = *left_child.node->leaf();
    LeafNode& right = *right_child.node->leaf();
    right.Insert(0, left.Remove(left.count - 1));
    parent->SetSeparator(index - 1, SharedKey::Make(right.entries[0]->key()));
  } else {
    InnerNode& left = *left_child.node->inner();
    InnerNode& right = *right_child.node->inner();
    for (int i = right.separator_count(); i > 0; --i)
      right.SetSeparator(i, std::move(right.separators[static_cast<size_t>(i - 1)]));
    for (int i = right.count; i > 0; --i)
      right.children[static_cast<size_t>(i)] =
          std::move(right.children[static_cast<size_t>(i - 1)]);
    right.SetSeparator(0, parent->separators[static_cast<size_t>(index - 1)]);
    right.children[0] = std::move(left.children[static_cast<size_t>(left.count - 1)]);
    ++right.count;
    right.MarkStaleFrom(0);
    const auto last = static_cast<size_t>(left.separator_count() - 1);
    parent->SetSeparator(index - 1, std::move(left.separators[last]));
    left.separators[last] = {};
    left.children[static_cast<size_t>(left.count - 1)] = {};
    --left.count;
    left.MarkStaleFrom(left.count);
  }
  left_child.size = left_child.node->size();
  right_child.size = right_child.node->size();
}

void Tree::BorrowFromRight(InnerNode* parent, int index) {
  Child& left_child = parent->children[static_cast<size_t>(index)];
  Child& right_child = parent->children[static_cast<size_t>(index + 1)];
  if (left_child.node->is_leaf()) {
    LeafNode& left = *left_child.node->leaf();
    LeafNode& right = *right_child.node->leaf();
    left.Insert(left.count, right.Remove(0));
    parent->SetSeparator(index, SharedKey::Make(right.entries[0]->key()));
  } else {
    InnerNode& left = *left_child.node->inner();
    InnerNode& right = *right_child.node->inner();
    left.SetSeparator(left.separator_count(), parent->separators[static_cast<size_t>(index)]);
    left.children[left.count] = std::move(right.children[0]);
    left.MarkStaleFrom(left.count);
    ++left.count;
    parent->SetSeparator(index, std::move(right.separators[0]));
    for (int i = 0; i + 1 < right.separator_count(); ++i)
      right.SetSeparator(i, std::move(right.separators[static_cast<size_t>(i + 1)]));
    for (int i = 0; i + 1 < right.count; ++i)
      right.children[static_cast<size_t>(i)] =
          std::move(right.children[static_cast<size_t>(i + 1)]);
    right.separators[static_cast<size_t>(right.separator_count() - 1)] = {};
    right.children[static_cast<size_t>(right.count - 1)] = {};
    --right.count;
    right.MarkStaleFrom(0);
  }
  left_child.size = left_child.node->size();
  right_child.size = right_child.node->size();
}

// The child at `index` absorbs the one behind it.
void Tree::Merge(InnerNode* parent, int index) {
  Child& left_child = parent->children[static_cast<size_t>(index)];
  const Ref<Node> right_node = parent->children[static_cast<size_t>(index + 1)].node;
  if (left_child.node->is_leaf()) {
    LeafNode& left = *left_child.node->leaf();
    LeafNode& right = *right_node->leaf();
    for (int i = 0; i < right.count; ++i)
      left.Insert(left.count, std::move(right.entries[static_cast<size_t>(i)]));
    memory_bytes_ -= sizeof(LeafNode);
  } else {
    InnerNode& left = *left_child.node->inner();
    InnerNode& right = *right_node->inner();
    left.MarkStaleFrom(left.count);
    Ref<SharedKey> separator = parent->separators[static_cast<size_t>(index)];
    for (int i = 0; i < right.count; ++i) {
      left.SetSeparator(left.count - 1, std::move(separator));
      left.children[left.count] = std::move(right.children[static_cast<size_t>(i)]);
      ++left.count;
      if (i < right.separator_count())
        separator = std::move(right.separators[static_cast<size_t>(i)]);
    }
    memory_bytes_ -= sizeof(InnerNode);
  }
  // The right node is this version's own and gone with it; it never had a record.
  right_node->count = 0;
  left_child.size = left_child.node->size();
  parent->RemoveChild(index + 1);
}

// ---- Versions ----

int64_t Tree::next_version() const {
  return version_ == 0 ? std::max<int64_t>(options_.initial_version, 1) : version_ + 1;
}

absl::StatusOr<Hash> Tree::WorkingHash() { return root_ ? root_->UpdateHash() : EmptyTreeHash(); }

void Tree::ResetSession() {
  changed_ = false;
  next_value_nonce_ = 0;
  orphans_ = {};
  removed_keys_.clear();
}

void Tree::SaveNodes(Node* node, int64_t version, uint32_t* nonce, Sink* sink) {
  if (!node->is_leaf()) {
    InnerNode& inner = *node->inner();
    for (int i = 0; i < inner.count; ++i) {
      Child& child = inner.children[static_cast<size_t>(i)];
      if (!child.node || child.node->record.version != 0) continue;
      SaveNodes(child.node.get(), version, nonce, sink);
      child.record = child.node->record;
    }
  }
  node->record = {version, ++*nonce};
  SealNode(*node, &sink->record);
  sink->Put(KeyOf(kNodeRecord, node->record), sink->record);
}

absl::Status Tree::RebuildFastIndex(Sink* sink) {
  sink->DeleteAll(kFastRecord);
  const std::unique_ptr<Iterator> all = NewIterator(KeyRange::All(), Direction::kForward);
  for (; all->Valid(); all->Next()) {
    int position = 0;
    absl::StatusOr<LeafNode*> leaf = FindLeaf(all->key(), &position);
    if (!leaf.ok()) return leaf.status();
    SealFast((*leaf)->entries[static_cast<size_t>(position)]->value_key.version, all->value(),
             &sink->record);
    sink->Put(Join(std::string(1, kFastRecord), all->key()), sink->record);
  }
  return all->status();
}

absl::StatusOr<Hash> Tree::Commit(WriteBatch* batch) {
  if (read_only_) {
    return absl::FailedPreconditionError(
        absl::StrCat("the tree was opened at version ", version_,
                     " which is not the last one of its database; it is read-only"));
  }
  absl::StatusOr<Hash> hash = WorkingHash();
  if (!hash.ok()) return hash;
  const int64_t version = next_version();

  if (!in_place()) {
    Sink sink(this, batch);
    uint32_t nonce = 0;
    if (root_ && root_->record.version == 0) SaveNodes(root_.get(), version, &nonce, &sink);
    SealRoot(root_ ? root_->record : RecordKey{}, *hash, &sink.record);
    sink.Put(KeyOf(kRootRecord, version), sink.record);
    if (!orphans_.values.empty()) {
      SealOrphans(orphans_.values, &sink.record);
      sink.Put(KeyOf(kOrphansRecord, version), sink.record);
    }
    const bool fast = options_.fast_index && options_.persist == Persist::kEvery;
    if (fast && fast_index_stale_) {
      const absl::Status rebuilt = RebuildFastIndex(&sink);
      if (!rebuilt.ok()) return rebuilt;
      fast_index_stale_ = false;
    } else if (fast) {
      for (const std::string& key : removed_keys_)
        sink.Delete(Join(std::string(1, kFastRecord), key));
      for (const Ref<Entry>& entry : pending_) {
        SealFast(version, entry->value(), &sink.record);
        sink.Put(Join(std::string(1, kFastRecord), entry->key()), sink.record);
      }
    }
    if (fast) {
      SealVersion(version, &sink.record);
      sink.Put(std::string(kFastIndexVersionKey), sink.record);
    }
    for (const Ref<Entry>& entry : pending_) {
      SealValue(entry->value(), &sink.record);
      sink.Put(KeyOf(kValueRecord, entry->value_key), sink.record);
      entry->pending_index = Entry::kNotPending;
    }
    pending_.clear();
    orphans_by_version_[version] = std::move(orphans_);
    if (orphans_by_version_.size() > kMaxRememberedVersions)
      orphans_by_version_.erase(orphans_by_version_.begin());
    versions_.push_back(version);
    committed_root_ = root_;
    if (options_.persist == Persist::kDeferred && options_.retained_versions > 0) {
      const absl::Status pruned = PruneVersionsTo(version - options_.retained_versions, &sink);
      if (!pruned.ok()) return pruned;
    }
  }
  version_ = version;
  committed_size_ = size_;
  committed_hash_ = *hash;
  ResetSession();
  return hash;
}

absl::Status Tree::Rollback() {
  if (in_place()) {
    return absl::FailedPreconditionError(
        "a tree that changes its nodes in place cannot be rolled back; open it again");
  }
  root_ = committed_root_;
  size_ = committed_size_;
  pending_.clear();
  ResetSession();
  memory_bytes_ = root_ ? MemoryBelow(root_.get()) : 0;
  return absl::OkStatus();
}

absl::Status Tree::Flush(WriteBatch* batch) {
  if (options_.persist == Persist::kEvery) return absl::OkStatus();
  if (changed_) return absl::FailedPreconditionError("flush of a tree with uncommitted writes");
  if (in_place()) return FlushInPlace(batch);
  for (const auto& [key, record] : unflushed_) {
    if (record.has_value()) {
      batch->Put(options_.key_prefix, key, *record);
    } else {
      batch->Delete(options_.key_prefix, key);
    }
  }
  unflushed_.clear();
  dirty_bytes_ = 0;
  flushed_version_ = version_;
  return absl::OkStatus();
}

absl::Status Tree::FlushInPlace(WriteBatch* batch) {
  if (version_ == flushed_version_) return absl::OkStatus();
  // The sink of a tree in place is the overlay as well; it is emptied below.
  Sink sink(this, batch);
  // Versions of a database that was written with every version share nodes with the last one,
  // which are about to be removed.
  if (!versions_.empty()) {
    const absl::Status pruned = PruneVersionsTo(flushed_version_ - 1, &sink);
    if (!pruned.ok()) return pruned;
    absl::StatusOr<std::optional<std::string>> orphans =
        ReadRecord(KeyOf(kOrphansRecord, flushed_version_));
    if (!orphans.ok()) return orphans.status();
    if (orphans->has_value()) sink.Delete(KeyOf(kOrphansRecord, flushed_version_));
  }
  uint32_t nonce = 0;
  if (root_ && root_->record.version == 0) SaveNodes(root_.get(), version_, &nonce, &sink);
  for (const Ref<Entry>& entry : pending_) {
    SealValue(entry->value(), &sink.record);
    sink.Put(KeyOf(kValueRecord, entry->value_key), sink.record);
    entry->pending_index = Entry::kNotPending;
  }
  pending_.clear();
  for (const RecordKey key : dead_.nodes) sink.Delete(KeyOf(kNodeRecord, key));
  for (const RecordKey key : dead_.values) sink.Delete(KeyOf(kValueRecord, key));
  dead_ = {};
  SealRoot(root_ ? root_->record : RecordKey{}, committed_hash_, &sink.record);
  sink.Put(KeyOf(kRootRecord, version_), sink.record);
  if (flushed_version_ != 0) sink.Delete(KeyOf(kRootRecord, flushed_version_));
  for (const auto& [key, record] : unflushed_) {
    if (record.has_value()) {
      batch->Put(options_.key_prefix, key, *record);
    } else {
      batch->Delete(options_.key_prefix, key);
    }
  }
  unflushed_.clear();
  dirty_bytes_ = 0;
  flushed_version_ = version_;
  versions_ = {version_};
  return absl::OkStatus();
}

absl::Status Tree::DeleteVersionsTo(int64_t version, WriteBatch* batch) {
  if (version >= version_) {
    return absl::FailedPreconditionError(
        absl::StrCat("version ", version, " can't be deleted: the tree is at ", version_));
  }
  // In place, older versions are of an earlier run and go with the next flush.
  if (in_place()) return absl::OkStatus();
  if (changed_) return absl::FailedPreconditionError("deletion of versions amid a version");
  Sink sink(this, batch);
  return PruneVersionsTo(version, &sink);
}

absl::Status Tree::PruneVersionsTo(int64_t version, Sink* sink) {
  while (versions_.size() > 1 && versions_.front() <= version) {
    const absl::Status pruned = PruneVersion(versions_[0], versions_[1], sink);
    if (!pruned.ok()) return pruned;
    versions_.pop_front();
  }
  return absl::OkStatus();
}

absl::Status Tree::PruneVersion(int64_t version, int64_t next, Sink* sink) {
  const auto remembered = orphans_by_version_.find(next);
  if (remembered != orphans_by_version_.end()) {
    for (const RecordKey key : remembered->second.nodes) sink->Delete(KeyOf(kNodeRecord, key));
  } else {
    const absl::Status pruned = PruneNodes(version, next, sink);
    if (!pruned.ok()) return pruned;
  }
  for (const int64_t orphaning : {version, next}) {
    std::vector<RecordKey> values;
    const auto found = orphans_by_version_.find(orphaning);
    if (found != orphans_by_version_.end()) {
      values = std::move(found->second.values);
      found->second.values.clear();
    } else {
      absl::StatusOr<std::optional<std::string>> record =
          ReadRecord(KeyOf(kOrphansRecord, orphaning));
      if (!record.ok()) return record.status();
      if (record->has_value()) {
        absl::StatusOr<std::vector<RecordKey>> parsed = ParseOrphans(**record);
        if (!parsed.ok()) {
          return WithContext(parsed.status(), "orphans record", KeyOf(kOrphansRecord, orphaning));
        }
        values = *std::move(parsed);
      }
    }
    if (values.empty()) continue;
    for (const RecordKey key : values) sink->Delete(KeyOf(kValueRecord, key));
    sink->Delete(KeyOf(kOrphansRecord, orphaning));
  }
  orphans_by_version_.erase(version);
  sink->Delete(KeyOf(kRootRecord, version));
  return absl::OkStatus();
}

// Removes the nodes that `version` has and `next` has not, from what the database says.
absl::Status Tree::PruneNodes(int64_t version, int64_t next, Sink* sink) {
  const auto read_root = [&](int64_t of) -> absl::StatusOr<RecordKey> {
    const std::string key = KeyOf(kRootRecord, of);
    absl::StatusOr<std::optional<std::string>> record = ReadRecord(key);
    if (!record.ok()) return record.status();
    if (!record->has_value()) {
      return absl::DataLossError(absl::StrCat("root record of version ", of, " is missing"));
    }
    absl::StatusOr<RootRecord> root = ParseRoot(**record);
    if (!root.ok()) return WithContext(root.status(), "root record", key);
    return root->root;
  };
  absl::StatusOr<RecordKey> old_root = read_root(version);
  if (!old_root.ok()) return old_root.status();
  absl::StatusOr<RecordKey> new_root = read_root(next);
  if (!new_root.ok()) return new_root.status();

  // Subtrees of `next` that are not newer than `version` belong to both.
  RecordKeySet shared;
  struct Visit {
    RecordKey key;
    std::optional<int> height;
  };
  std::vector<Visit> visits;
  const size_t memory = memory_bytes_;  // nodes read here are not kept
  if (new_root->version != 0) visits.push_back({*new_root, std::nullopt});
  while (!visits.empty()) {
    const Visit visit = visits.back();
    visits.pop_back();
    if (visit.key.version <= version) {
      shared.insert({visit.key.version, visit.key.nonce});
      continue;
    }
    if (visit.height == 0) continue;
    absl::StatusOr<Ref<Node>> node = ReadNode(visit.key, visit.height);
    if (!node.ok()) return node.status();
    if ((*node)->is_leaf()) continue;
    for (int i = 0; i < (*node)->count; ++i) {
      visits.push_back(
          {(*node)->inner()->children[static_cast<size_t>(i)].record, (*node)->height - 1});
    }
  }
  if (old_root->version != 0) visits.push_back({*old_root, std::nullopt});
  while (!visits.empty()) {
    const Visit visit = visits.back();
    visits.pop_back();
    if (shared.contains({visit.key.version, visit.key.nonce})) continue;
    if (visit.height != 0) {
      absl::StatusOr<Ref<Node>> node = ReadNode(visit.key, visit.height);
      if (!node.ok()) return node.status();
      for (int i = 0; i < (*node)->count && !(*node)->is_leaf(); ++i) {
        visits.push_back(
            {(*node)->inner()->children[static_cast<size_t>(i)].record, (*node)->height - 1});
      }
    }
    sink->Delete(KeyOf(kNodeRecord, visit.key));
  }
  memory_bytes_ = memory;
  return absl::OkStatus();
}

// ---- Memory ----

size_t Tree::MemoryBelow(const Node* node) const {
  size_t sum = node->memory_bytes();
  if (!node->is_leaf()) {
    for (int i = 0; i < node->count; ++i) {
      const Child& child = node->inner()->children[static_cast<size_t>(i)];
      if (child.node) sum += MemoryBelow(child.node.get());
    }
  }
  return sum;
}

void Tree::Trim(size_t target) {
  if (!root_ || root_->is_leaf()) return;
  TrimBelow(root_->inner(), target, /*used_too=*/false);
  TrimBelow(root_->inner(), target, /*used_too=*/true);
}

void Tree::TrimBelow(InnerNode* node, size_t target, bool used_too) {
  for (int i = 0; i < node->count; ++i) {
    if (memory_bytes_ <= target) return;
    Child& child = node->children[static_cast<size_t>(i)];
    if (!child.node) continue;
    if (!child.node->is_leaf()) {
      TrimBelow(child.node->inner(), target, used_too);
      continue;
    }
    const bool used = std::exchange(child.node->recently_used, false);
    if (child.node->record.version == 0 || (used && !used_too)) continue;
    child.hash = child.node->hash;
    child.record = child.node->record;
    memory_bytes_ -= child.node->memory_bytes();
    child.node = {};
  }
}

// ---- Iteration ----

class TreeIterator final : public Iterator {
 public:
  TreeIterator(const Tree* tree, const KeyRange& range, Direction direction)
      : tree_(tree), range_(range), forward_(direction == Direction::kForward) {
    if (tree->root_) Seek(tree->root_.get());
  }

  bool Valid() const override { return leaf_ != nullptr; }
  void Next() override {
    position_ += forward_ ? 1 : -1;
    Settle();
  }
  std::string_view key() const override {
    return leaf_->entries[static_cast<size_t>(position_)]->key();
  }
  std::string_view value() const override {
    return leaf_->entries[static_cast<size_t>(position_)]->value();
  }
  absl::Status status() const override { return status_; }

 private:
  struct Step {
    InnerNode* node;
    int index;
  };

  void Fail(absl::Status status) {
    status_ = std::move(status);
    leaf_ = nullptr;
  }

  // Goes down to the leaf where the range begins (forward) or ends.
  void Seek(Node* node) {
    const bool from_key = forward_ || range_.end.has_value();
    const std::string_view target = forward_     ? std::string_view(range_.start)
                                    : range_.end ? std::string_view(*range_.end)
                                                 : std::string_view();
    while (!node->is_leaf()) {
      InnerNode* const inner = node->inner();
      const int index = from_key ? inner->FindChild(target) : inner->count - 1;
      path_.push_back({inner, index});
      absl::StatusOr<Node*> child = tree_->LoadChild(inner, index);
      if (!child.ok()) return Fail(child.status());
      node = *child;
    }
    leaf_ = node->leaf();
    if (!from_key) {
      position_ = leaf_->count - 1;
    } else {
      position_ = leaf_->Find(target).first - (forward_ ? 0 : 1);
    }
    Settle();
  }

  // Moves on to the neighbouring leaf when this one is used up, and ends where the range does.
  void Settle() {
    while (position_ < 0 || position_ >= leaf_->count) {
      while (!path_.empty() && (forward_ ? path_.back().index + 1 == path_.back().node->count
                                         : path_.back().index == 0)) {
        path_.pop_back();
      }
      if (path_.empty()) {
        leaf_ = nullptr;
        return;
      }
      path_.back().index += forward_ ? 1 : -1;
      Node* node = nullptr;
      while (true) {
        absl::StatusOr<Node*> child = tree_->LoadChild(path_.back().node, path_.back().index);
        if (!child.ok()) return Fail(child.status());
        node = *child;
        if (node->is_leaf()) break;
        path_.push_back({node->inner(), forward_ ? 0 : node->count - 1});
      }
      leaf_ = node->leaf();
      position_ = forward_ ? 0 : leaf_->count - 1;
    }
    const std::string_view at = key();
    if (forward_ ? (range_.end.has_value() && at >= *range_.end) : at < range_.start) {
      leaf_ = nullptr;
      return;
    }
    absl::StatusOr<std::string_view> value = tree_->LoadValue(leaf_, position_);
    if (!value.ok()) Fail(value.status());
  }

  const Tree* const tree_;
  const KeyRange range_;
  const bool forward_;
  std::vector<Step> path_;
  LeafNode* leaf_ = nullptr;
  int position_ = 0;
  absl::Status status_;
};

std::unique_ptr<Iterator> Tree::NewIterator(const KeyRange& range, Direction direction) const {
  return std::make_unique<TreeIterator>(this, range, direction);
}

}  // namespace blockreplay::storage::bptree
