// Random histories in every mode, against a naive tree that knows nothing of memory, paging or
// in-place changes.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "storage/iavl/codec.h"
#include "storage/iavl/test_support.h"
#include "storage/sha256.h"

namespace blockreplay::storage::iavl {
namespace {

// The specification, written down as directly as possible: nodes never change, the database of
// every version is derived from whole trees.
struct NaiveNode {
  std::string key;
  std::string value;
  int height = 0;
  int64_t size = 1;
  std::shared_ptr<NaiveNode> left;
  std::shared_ptr<NaiveNode> right;
  int64_t version = 0;  // 0: not saved
  uint32_t nonce = 0;
  Hash hash{};
};
using NaivePtr = std::shared_ptr<NaiveNode>;

class NaiveTree {
 public:
  bool Set(const std::string& key, const std::string& value) {
    const bool existed = root_ != nullptr && Has(root_, key);
    root_ = root_ == nullptr ? NewLeaf(key, value) : Insert(root_, key, value);
    fast_changes_[key] = value;
    return existed;
  }

  bool Delete(const std::string& key) {
    if (root_ == nullptr || !Has(root_, key)) return false;
    std::optional<std::string> new_key;
    root_ = Remove(root_, key, &new_key);
    fast_changes_[key] = std::nullopt;
    return true;
  }

  void Commit(int64_t version, bool fast) {
    if (fast) {
      for (const auto& [key, value] : fast_changes_) {
        if (value) {
          std::string record;
          EncodeFastNode(version_ + 1, *value, &record);
          db_["f" + key] = record;
        } else {
          db_.erase("f" + key);
        }
      }
      db_["mstorage_version"] = "1.1.0-" + std::to_string(version);
    }
    fast_changes_.clear();
    uint32_t nonce = 0;
    if (root_ == nullptr) {
      db_[RootKey(version)] = "";
    } else if (root_->version != 0) {
      db_[RootKey(version)] = NodeKey(*root_);
    } else {
      Save(root_, version, &nonce);
    }
    version_ = version;
    versions_[version] = root_;
  }

  void Prune(int64_t to) {
    while (versions_.begin()->first <= to) {
      const auto [version, old_root] = *versions_.begin();
      const NaivePtr next_root = std::next(versions_.begin())->second;
      std::set<const NaiveNode*> kept;
      Collect(next_root, &kept);
      std::set<const NaiveNode*> old;
      Collect(old_root, &old);
      for (const NaiveNode* node : old) {
        if (kept.contains(node)) continue;
        const bool moved = node->nonce == 1 && node->version < version;
        db_.erase(moved ? Key(node->version, 0) : NodeKey(*node));
      }
      if (old_root == nullptr || old_root->version != version || old_root->nonce != 1) {
        db_.erase(RootKey(version));
      }
      if (next_root != nullptr && next_root->version == version && next_root->nonce == 1) {
        db_[Key(version, 0)] = db_.extract(RootKey(version)).mapped();
        next_root->nonce = 0;
      }
      versions_.erase(versions_.begin());
    }
  }

  void Rollback() {
    root_ = version_ == 0 ? nullptr : versions_.at(version_);
    fast_changes_.clear();
  }

  // As if nothing after `version` had happened.
  void GoBackTo(int64_t version) {
    version_ = version;
    versions_.erase(versions_.upper_bound(version), versions_.end());
    Rollback();
  }

  Hash hash() const { return root_ == nullptr ? Sha256({}) : root_->hash; }
  int64_t version() const { return version_; }
  int64_t first_version() const { return versions_.empty() ? 0 : versions_.begin()->first; }
  Contents& db() { return db_; }

  static void Leaves(const NaivePtr& node, Contents* contents) {
    if (node == nullptr) return;
    if (node->height == 0) contents->emplace(node->key, node->value);
    Leaves(node->left, contents);
    Leaves(node->right, contents);
  }
  Contents ContentsAt(int64_t version) const {
    Contents contents;
    Leaves(versions_.at(version), &contents);
    return contents;
  }
  Hash HashAt(int64_t version) const {
    const NaivePtr& root = versions_.at(version);
    return root == nullptr ? Sha256({}) : root->hash;
  }

 private:
  static NaivePtr NewLeaf(const std::string& key, const std::string& value) {
    auto leaf = std::make_shared<NaiveNode>();
    leaf->key = key;
    leaf->value = value;
    return leaf;
  }
  static NaivePtr Join(const std::string& key, NaivePtr left, NaivePtr right) {
    auto node = std::make_shared<NaiveNode>();
    node->key = key;
    node->height = 1 + std::max(left->height, right->height);
    node->size = left->size + right->size;
    node->left = std::move(left);
    node->right = std::move(right);
    return node;
  }
  static int Balance(const NaivePtr& node) { return node->left->height - node->right->height; }
  static NaivePtr RotateRight(const NaivePtr& node) {
    const NaivePtr& left = node->left;
    return Join(left->key, left->left, Join(node->key, left->right, node->right));
  }
  static NaivePtr RotateLeft(const NaivePtr& node) {
    const NaivePtr& right = node->right;
    return Join(right->key, Join(node->key, node->left, right->left), right->right);
  }
  static NaivePtr Balanced(const NaivePtr& node) {
    if (Balance(node) > 1) {
      if (Balance(node->left) >= 0) return RotateRight(node);
      return RotateRight(Join(node->key, RotateLeft(node->left), node->right));
    }
    if (Balance(node) < -1) {
      if (Balance(node->right) <= 0) return RotateLeft(node);
      return RotateLeft(Join(node->key, node->left, RotateRight(node->right)));
    }
    return node;
  }
  static bool Has(const NaivePtr& node, const std::string& key) {
    if (node->height == 0) return node->key == key;
    return Has(key < node->key ? node->left : node->right, key);
  }
  static NaivePtr Insert(const NaivePtr& node, const std::string& key, const std::string& value) {
    if (node->height == 0) {
      if (key == node->key) return NewLeaf(key, value);
      if (key < node->key) return Join(node->key, NewLeaf(key, value), node);
      return Join(key, node, NewLeaf(key, value));
    }
    const bool replaces = Has(node, key);
    const NaivePtr copy = key < node->key
                              ? Join(node->key, Insert(node->left, key, value), node->right)
                              : Join(node->key, node->left, Insert(node->right, key, value));
    return replaces ? copy : Balanced(copy);
  }
  static NaivePtr Remove(const NaivePtr& node, const std::string& key,
                         std::optional<std::string>* new_key) {
    if (node->height == 0) return nullptr;
    if (key < node->key) {
      const NaivePtr left = Remove(node->left, key, new_key);
      if (left == nullptr) {
        *new_key = node->key;
        return node->right;
      }
      return Balanced(Join(node->key, left, node->right));
    }
    const NaivePtr right = Remove(node->right, key, new_key);
    if (right == nullptr) return node->left;
    const std::string own = new_key->value_or(node->key);
    new_key->reset();
    return Balanced(Join(own, node->left, right));
  }

  static std::string Key(int64_t version, uint32_t nonce) {
    return std::string(ShortKey::Node(version, nonce).view());
  }
  static std::string NodeKey(const NaiveNode& node) { return Key(node.version, node.nonce); }
  static std::string RootKey(int64_t version) { return Key(version, 1); }

  void Save(const NaivePtr& node, int64_t version, uint32_t* nonce) {
    if (node->version != 0) return;
    node->version = version;
    node->nonce = ++*nonce;
    std::string record;
    if (node->height == 0) {
      HashLeaf(version, node->key, node->value, node->hash.data());
      EncodeLeaf(node->key, node->value, &record);
    } else {
      Save(node->left, version, nonce);
      Save(node->right, version, nonce);
      HashInner(node->height, node->size, version, node->left->hash.data(),
                node->right->hash.data(), node->hash.data());
      NodeId children[2];
      for (int i = 0; i < 2; ++i) {
        const NaivePtr& child = i == 0 ? node->left : node->right;
        children[i].version = child->version;
        children[i].nonce = child->nonce;
      }
      EncodeInner(node->height, node->size, node->key, node->hash.data(), children[0], children[1],
                  &record);
    }
    db_[NodeKey(*node)] = record;
  }

  static void Collect(const NaivePtr& node, std::set<const NaiveNode*>* nodes) {
    if (node == nullptr) return;
    nodes->insert(node.get());
    Collect(node->left, nodes);
    Collect(node->right, nodes);
  }

  NaivePtr root_;
  int64_t version_ = 0;
  std::map<int64_t, NaivePtr> versions_;
  std::map<std::string, std::optional<std::string>> fast_changes_;
  Contents db_;
};

struct Parameters {
  bool every = true;
  bool copy_on_write = false;
  int64_t retained = 1;
  bool fast = false;
  bool small_cache = false;
  int keys = 30;
  unsigned seed = 1;
};

class History {
 public:
  explicit History(const Parameters& parameters)
      : parameters_(parameters), random_(parameters.seed) {
    options_.persist = parameters.every ? Persist::kEvery : Persist::kDeferred;
    options_.copy_on_write = parameters.copy_on_write;
    options_.retained_versions = parameters.retained;
    options_.fast_nodes = parameters.fast;
    if (Draw(4) == 0) options_.initial_version = 1 + Draw(100);
  }

  void Run(int steps) {
    Open();
    for (int step = 0; step < steps && !::testing::Test::HasFatalFailure(); ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      Step();
    }
    CloseAndCompare();
  }

 private:
  int Draw(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }

  std::string RandomKey() {
    const int number = Draw(parameters_.keys);
    // Some long ones, so that keys do not fit where others stood.
    std::string key = "k" + std::to_string(number);
    if (number % 7 == 3) key += std::string(static_cast<size_t>(number) * 5, 'x');
    return number == 5 ? "" : key;
  }

  std::string RandomValue() {
    const int kind = Draw(20);
    const size_t size = kind == 0   ? 0
                        : kind == 1 ? static_cast<size_t>(Draw(2000))
                                    : static_cast<size_t>(Draw(60));
    return std::string(size, static_cast<char>('a' + Draw(26)));
  }

  void Open() {
    tree_ = db_.Load(options_);
    ASSERT_NE(tree_, nullptr);
    if (parameters_.fast && naive_.version() == 0) {
      naive_.db()["mstorage_version"] = "1.1.0-0";
    }
  }

  void Step() {
    const int action = Draw(100);
    if (action < 60) {
      Write();
    } else if (action < 84) {
      CommitVersion();
    } else if (action < 89) {
      PruneVersions();
    } else if (action < 93) {
      RollbackWrites();
    } else if (action < 95) {
      Reopen();
    } else if (action < 97) {
      HoldView();
    } else {
      CompareContents();
    }
  }

  void Write() {
    const std::string key = RandomKey();
    if (Draw(3) == 0) {
      const auto existed = tree_->DeleteAndReport(key);
      ASSERT_TRUE(existed.ok()) << existed.status();
      ASSERT_EQ(*existed, naive_.Delete(key));
      if (*existed) pending_ = true;
      model_.erase(key);
    } else {
      const std::string value = RandomValue();
      // An iterator must go on to see what was there before.
      std::unique_ptr<Iterator> before;
      Contents expected;
      if (Draw(10) == 0) {
        before = tree_->NewIterator(KeyRange::All(), Direction::kForward);
        expected = model_;
      }
      const auto existed = tree_->SetAndReport(key, value);
      ASSERT_TRUE(existed.ok()) << existed.status();
      ASSERT_EQ(*existed, naive_.Set(key, value));
      pending_ = true;
      model_[key] = value;
      if (before != nullptr) {
        Contents seen;
        for (; before->Valid(); before->Next()) seen.emplace(before->key(), before->value());
        ASSERT_OK(before->status());
        ASSERT_EQ(seen, expected);
      }
    }
    if (Draw(20) == 0) {
      ASSERT_TRUE(tree_->WorkingHash().ok());
    }
    if (Draw(20) == 0) Trim();
  }

  void Trim() {
    if (parameters_.small_cache) tree_->Trim(Draw(2) == 0 ? 0 : 4000);
  }

  void CommitVersion() {
    naive_.Commit(tree_->next_version(), parameters_.fast);
    const std::string root = db_.Commit(tree_.get());
    pending_ = false;
    committed_ = model_;
    ASSERT_EQ(root, Hex(naive_.hash()));
    ASSERT_EQ(tree_->version(), naive_.version());
    if (parameters_.every) {
      CompareDatabase();
    } else {
      retained_.push_back(naive_.version());
      while (static_cast<int64_t>(retained_.size()) > parameters_.retained) {
        retained_.erase(retained_.begin());
      }
      if (Draw(3) == 0) FlushTree();
    }
    Trim();
  }

  void FlushTree() {
    if (view_ != nullptr && view_->version() < retained_.front()) {
      WriteBatch batch;
      ASSERT_EQ(tree_->Flush(&batch).code(), absl::StatusCode::kFailedPrecondition);
      ReleaseView();
    }
    db_.Flush(tree_.get());
    flushed_ = naive_.version();
    flushed_versions_ = retained_;
    EXPECT_EQ(tree_->dirty_bytes(), 0u);
    CompareFlushed();
  }

  // What a deferred database must have: the retained versions, whole, and no other node.
  void CompareFlushed() {
    std::set<std::string> reachable;
    for (const int64_t version : retained_) {
      const std::unique_ptr<Tree> tree = db_.Load(options_, version);
      ASSERT_NE(tree, nullptr);
      ASSERT_EQ(Hex(tree->hash()), Hex(naive_.HashAt(version)));
      ASSERT_EQ(iavl::Dump(*tree), naive_.ContentsAt(version));
      std::string root_key(ShortKey::Node(version, 1).view());
      Mark(root_key, &reachable);
    }
    for (const auto& [key, value] : db_.Dump()) {
      ASSERT_TRUE(reachable.contains(key)) << "node that nobody needs: " << Hex(key);
      // Go takes every (v, 1) for a version. Only a leaf that once was a root may stand there, as
      // in Go's databases.
      if (key.substr(9) != std::string("\0\0\0\1", 4)) continue;
      const auto version = static_cast<int64_t>(GetBigEndian64(key.data() + 1));
      if (std::find(retained_.begin(), retained_.end(), version) == retained_.end()) {
        ASSERT_EQ(value.substr(0, 1), std::string(1, '\0')) << Hex(key);
      }
    }
  }

  void Mark(const std::string& key, std::set<std::string>* reachable) {
    const Contents db = db_.Dump();
    Mark(db, key, reachable);
  }

  void Mark(const Contents& db, std::string key, std::set<std::string>* reachable) {
    if (!db.contains(key)) {
      ASSERT_EQ(key.back(), '\1') << Hex(key);
      key.back() = '\0';
    }
    ASSERT_TRUE(db.contains(key)) << "missing node " << Hex(key);
    if (!reachable->insert(key).second) return;
    const std::string& record = db.at(key);
    RootKind kind;
    NodeId target;
    ASSERT_EQ(DecodeRoot(record, &kind, &target), nullptr);
    if (kind == RootKind::kEmpty) return;
    if (kind == RootKind::kReference) {
      Mark(db, std::string(ShortKey::Node(target).view()), reachable);
      return;
    }
    NodeRecord node;
    ASSERT_EQ(DecodeNode(record, &node), nullptr);
    if (node.height == 0) return;
    for (const NodeId& child : node.child) {
      ASSERT_NO_FATAL_FAILURE(Mark(db, std::string(ShortKey::Node(child).view()), reachable));
    }
  }

  // A root that pruning moved from (v, 1) to (v, 0) may be named either way by a new parent,
  // depending on whether the node or an older parent's record was in memory. The vectors pin what
  // Go does with everything in its cache.
  static Contents WithoutMovedNames(const Contents& db) {
    Contents result = db;
    for (auto& [key, value] : result) {
      NodeRecord node;
      if (key[0] != 's' || DecodeNode(value, &node) != nullptr || node.height == 0) continue;
      for (NodeId& child : node.child) child.nonce = std::max(child.nonce, kRootNonce);
      std::string record;
      EncodeInner(node.height, node.size, node.key, node.hash.data(), node.child[0], node.child[1],
                  &record);
      value = record;
    }
    return result;
  }

  void CompareDatabase() {
    Contents actual = db_.Dump();
    Contents expected = naive_.db();
    if (reopened_ || parameters_.small_cache) {
      actual = WithoutMovedNames(actual);
      expected = WithoutMovedNames(expected);
    }
    ASSERT_TRUE(actual == expected) << Difference(expected, actual);
  }

  // Reads a version for a while, whatever happens to the tree.
  void HoldView() {
    if (view_ != nullptr) {
      ReleaseView();
      return;
    }
    if (naive_.version() == 0) return;
    auto view = tree_->GetImmutable(naive_.version());
    if (!view.ok()) return;
    view_ = *std::move(view);
  }

  void ReleaseView() {
    if (view_ == nullptr) return;
    ASSERT_EQ(iavl::Dump(*view_), naive_.ContentsAt(view_->version()));
    view_.reset();
  }

  void PruneVersions() {
    const int64_t first = naive_.first_version();
    const int64_t last = naive_.version();
    if (!parameters_.every || first == 0 || first >= last) return;
    const int64_t to = first + Draw(static_cast<int>(std::min<int64_t>(last - first, 20)));
    if (view_ != nullptr && view_->version() <= to) {
      WriteBatch batch;
      ASSERT_EQ(tree_->DeleteVersionsTo(to, &batch).code(), absl::StatusCode::kFailedPrecondition);
      return;
    }
    naive_.Prune(to);
    db_.Prune(tree_.get(), to);
    const auto now_first = tree_->FirstVersion();
    ASSERT_TRUE(now_first.ok());
    ASSERT_EQ(*now_first, to + 1);
    CompareDatabase();
  }

  void RollbackWrites() {
    const absl::Status status = tree_->Rollback();
    if (!parameters_.every && !parameters_.copy_on_write && parameters_.retained == 1 && pending_ &&
        naive_.version() > 0) {
      ASSERT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
      return;
    }
    ASSERT_OK(status);
    naive_.Rollback();
    model_ = committed_;
    pending_ = false;
  }

  // The process dies: what was not written is gone.
  void Reopen() {
    ReleaseView();
    if (!parameters_.every && !pending_ && Draw(2) == 0) FlushTree();
    tree_.reset();
    reopened_ = true;
    if (parameters_.every) {
      naive_.Rollback();
    } else {
      // The last flush is what is left; a multistore's log would bring the rest back.
      naive_.GoBackTo(flushed_);
      retained_ = flushed_versions_;
      committed_ = flushed_ == 0 ? Contents() : naive_.ContentsAt(flushed_);
    }
    model_ = committed_;
    pending_ = false;
    if (naive_.version() > 0) options_.initial_version = 0;
    Open();
    ASSERT_EQ(Hex(tree_->hash()),
              Hex(naive_.version() == 0 ? Sha256({}) : naive_.HashAt(naive_.version())));
  }

  void CompareContents() {
    ASSERT_EQ(iavl::Dump(*tree_), model_);
    std::string start = RandomKey();
    std::string end = RandomKey();
    KeyRange range{start, end};
    if (Draw(3) == 0) range.end.reset();
    for (const Direction direction : {Direction::kForward, Direction::kReverse}) {
      std::vector<std::pair<std::string, std::string>> expected;
      for (const auto& entry : model_) {
        if (range.Contains(entry.first)) expected.push_back(entry);
      }
      if (direction == Direction::kReverse) std::reverse(expected.begin(), expected.end());
      std::vector<std::pair<std::string, std::string>> actual;
      const auto it = tree_->NewIterator(range, direction);
      for (; it->Valid(); it->Next()) actual.emplace_back(it->key(), it->value());
      ASSERT_OK(it->status());
      ASSERT_EQ(actual, expected);
    }
    const std::string key = RandomKey();
    std::string value;
    const auto found = tree_->Get(key, &value);
    ASSERT_TRUE(found.ok());
    ASSERT_EQ(*found, model_.contains(key));
    if (*found) {
      ASSERT_EQ(value, model_[key]);
    }

    if (naive_.version() == 0) return;
    const auto available = tree_->AvailableVersions();
    ASSERT_TRUE(available.ok()) << available.status();
    ASSERT_EQ(available->back(), naive_.version());
    std::vector<int64_t> versions;
    for (const int64_t version : *available) {
      // A reopened tree may take a leaf that was a root for a version, as Go does.
      if (version >= naive_.first_version() || !reopened_) versions.push_back(version);
    }
    if (parameters_.every) {
      ASSERT_EQ(versions.front(), naive_.first_version());
    }
    const int64_t version = versions[static_cast<size_t>(Draw(static_cast<int>(versions.size())))];
    const auto view = tree_->GetImmutable(version);
    if (!parameters_.every && !parameters_.copy_on_write && parameters_.retained == 1 && pending_ &&
        version != flushed_) {
      ASSERT_EQ(view.status().code(), absl::StatusCode::kFailedPrecondition);
      return;
    }
    ASSERT_TRUE(view.ok()) << view.status();
    ASSERT_EQ(Hex((*view)->hash()), Hex(naive_.HashAt(version)));
    const Contents then = naive_.ContentsAt(version);
    ASSERT_EQ(iavl::Dump(**view), then);
    ASSERT_EQ((*view)->size(), static_cast<int64_t>(then.size()));
    CompareWithOther(**view, then, versions);
  }

  void CompareWithOther(const View& view, const Contents& then,
                        const std::vector<int64_t>& versions) {
    const int64_t other = versions[static_cast<size_t>(Draw(static_cast<int>(versions.size())))];
    const auto second = tree_->GetImmutable(other);
    if (!second.ok()) return;
    Contents rebuilt = then;
    ASSERT_OK(DiffLeaves(view, **second,
                         [&](std::string_view key, std::optional<std::string_view> before,
                             std::optional<std::string_view> after) {
                           const auto it = then.find(std::string(key));
                           EXPECT_EQ(before.has_value(), it != then.end());
                           if (before) {
                             EXPECT_EQ(*before, it->second);
                           }
                           if (after) {
                             rebuilt[std::string(key)] = std::string(*after);
                           } else {
                             rebuilt.erase(std::string(key));
                           }
                           return absl::OkStatus();
                         }));
    ASSERT_EQ(rebuilt, naive_.ContentsAt(other));
  }

  void CloseAndCompare() {
    if (::testing::Test::HasFatalFailure()) return;
    ReleaseView();
    if (parameters_.every) {
      CommitVersion();
      return;
    }
    CommitVersion();
    FlushTree();
  }

  const Parameters parameters_;
  std::mt19937 random_;
  TreeOptions options_;
  Database db_;
  std::unique_ptr<Tree> tree_;
  std::unique_ptr<View> view_;
  NaiveTree naive_;
  Contents model_;
  Contents committed_;
  int64_t flushed_ = 0;
  bool pending_ = false;
  bool reopened_ = false;
  std::vector<int64_t> retained_;
  std::vector<int64_t> flushed_versions_;
};

class Property : public ::testing::TestWithParam<int> {};

TEST_P(Property, RandomHistory) {
  for (unsigned round = 0; round < 40; ++round) {
    Parameters parameters;
    const int mode = GetParam();
    parameters.every = (mode & 1) == 0;
    parameters.copy_on_write = (mode & 2) != 0;
    parameters.small_cache = (mode & 4) != 0;
    if (parameters.every) {
      parameters.fast = (mode & 8) != 0;
    } else {
      parameters.retained = (mode & 8) != 0 ? 3 : 1;
    }
    parameters.keys = round % 4 == 0   ? 1 + static_cast<int>(round % 3)
                      : round % 4 == 1 ? 6
                      : round % 4 == 2 ? 30
                                       : 300;
    parameters.seed = round * 100 + static_cast<unsigned>(mode);
    SCOPED_TRACE("seed " + std::to_string(parameters.seed));
    History(parameters).Run(400);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(AllModes, Property, ::testing::Range(0, 16));

}  // namespace
}  // namespace blockreplay::storage::iavl
