#include "storage/iavl/tree_impl.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "storage/iavl/traverse.h"
#include "storage/sha256.h"

namespace blockreplay::storage::iavl {
namespace {

// Orphan keys kept for pruning, at 16 bytes each. Versions whose keys were let go are pruned by
// comparing them with their successors in the database, as Go does.
constexpr size_t kMaxOrphanKeys = size_t{1} << 20;
constexpr size_t kMaxPart = size_t{1} << 31;

}  // namespace

Tree::Impl::Impl(const Reader* db, std::string prefix, const TreeOptions& options)
    : options_(options),
      store_(std::make_unique<NodeStore>(db, std::move(prefix))),
      disk_(store_.get(), options.persist == Persist::kDeferred),
      anchor_(store_->NewAnchor()),
      editor_(store_.get(), anchor_),
      hash_(Sha256({})),
      fast_prefix_(absl::StrCat(store_->prefix(), std::string(1, kFastPrefix))) {
  editor_.working_version = std::max<int64_t>(options_.initial_version, 1);
  PushInfo();
}

Tree::Impl::Impl(std::unique_ptr<NodeStore> store, Inner* anchor, const TreeOptions& options,
                 int64_t version)
    : options_(options),
      store_(std::move(store)),
      disk_(store_.get(), options.persist == Persist::kDeferred),
      anchor_(anchor),
      editor_(store_.get(), anchor_),
      version_(version),
      hash_(Sha256({})),
      fast_prefix_(absl::StrCat(store_->prefix(), std::string(1, kFastPrefix))) {
  if (anchor_->has_root()) std::memcpy(hash_.data(), anchor_->hash(kLeft), kHashSize);
  editor_.working_version = version_ + 1;
  first_ = version_;
  storage_version_ = kFastStorageVersion;
  if (store_->persisted_version == version_) disk_first_ = disk_latest_ = version_;
  PushInfo();
}

Tree::Impl::~Impl() = default;

std::optional<NodeId> Tree::Impl::RootOf(const Inner* anchor) {
  if (!anchor->has_root()) return std::nullopt;
  return anchor->id(kLeft);
}

Tree::Impl::VersionInfo* Tree::Impl::FindInfo(int64_t version) {
  // The entry before the first commit stands for version 0.
  if (infos_.empty() || version < infos_.front().version || version > version_) return nullptr;
  VersionInfo* info = &infos_[static_cast<size_t>(version - infos_.front().version)];
  return info;
}

void Tree::Impl::PushInfo() {
  VersionInfo& info = infos_.emplace_back();
  info.version = version_;
  info.root = RootOf(anchor_);
  if (keeps_roots()) info.anchor = store_->CopyInner(anchor_, {});
  editor_.orphans = &info.orphans;
}

void Tree::Impl::DropInfo(VersionInfo* info) {
  if (info->anchor == nullptr) return;
  store_->ClearRoot(info->anchor);
  store_->FreeShallow(info->anchor);
  info->anchor = nullptr;
}

// ---- Loading

absl::Status Tree::Impl::Load(int64_t version, bool overwrite, WriteBatch* batch) {
  if (version < 0) return absl::InvalidArgumentError(absl::StrCat("version ", version));
  if (options_.fast_nodes && !every()) {
    return absl::InvalidArgumentError("fast nodes need every version to be persisted");
  }
  if (options_.retained_versions < 1) {
    return absl::InvalidArgumentError("at least one version must be retained");
  }
  absl::StatusOr<int64_t> latest = disk_.Latest();
  if (!latest.ok()) return latest.status();
  if (*latest < version) {
    return absl::NotFoundError(absl::StrCat("tree ", store_->prefix(), ": version ", version,
                                            " was asked for, the latest is ", *latest));
  }
  if (*latest == 0) {
    return options_.fast_nodes ? SyncFastStorage(0, /*force=*/false, batch) : absl::OkStatus();
  }
  absl::StatusOr<int64_t> first = disk_.First(*latest);
  if (!first.ok()) return first.status();
  if (*first < options_.initial_version) {
    return absl::FailedPreconditionError(
        absl::StrCat("tree ", store_->prefix(), ": the initial version is set to ",
                     options_.initial_version, ", but there is version ", *first));
  }
  absl::StatusOr<int64_t> latest_legacy = disk_.LatestLegacy();
  if (!latest_legacy.ok()) return latest_legacy.status();
  const int64_t target = version == 0 ? *latest : version;
  absl::StatusOr<std::optional<NodeId>> root = disk_.Root(target);
  if (!root.ok()) return root.status();

  version_ = target;
  first_ = disk_first_ = *first;
  disk_latest_ = *latest;
  latest_legacy_ = *latest_legacy;
  store_->persisted_version = target;
  editor_.working_version = target + 1;
  if (*root) {
    NodeStore::SetStubRoot(anchor_, **root);
    absl::Status status;
    if (store_->Child(anchor_, kLeft, &status) == nullptr) return status;
    if (status = store_->EnsureHash(anchor_, kLeft); !status.ok()) return status;
    std::memcpy(hash_.data(), anchor_->hash(kLeft), kHashSize);
  }
  DropInfo(&infos_.back());
  infos_.clear();
  PushInfo();

  const bool cut = overwrite && target < *latest;
  if (cut) {
    if (absl::Status s = disk_.DeleteVersionsAbove(target, batch); !s.ok()) return s;
    disk_latest_ = target;
    latest_legacy_ = std::min(latest_legacy_, target);
  }
  // Go compares the storage version with the latest version before and after cutting, and at least
  // one of them differs.
  return options_.fast_nodes ? SyncFastStorage(disk_latest_, cut, batch) : absl::OkStatus();
}

absl::Status Tree::Impl::SyncFastStorage(int64_t latest, bool force, WriteBatch* batch) {
  std::string stored;
  const absl::StatusOr<bool> found =
      store_->db()->Get(absl::StrCat(store_->prefix(), ForAbsl(kStorageVersionKey)), &stored);
  if (!found.ok()) return found.status();
  bool rebuild = force;
  storage_version_ = kFastStorageVersion;
  if (!*found || stored < kFastStorageVersion) {
    rebuild = true;
  } else {
    const size_t dash = stored.find('-');
    storage_version_ = stored.substr(0, dash);
    if (dash != std::string::npos) {
      const std::string of_version = stored.substr(dash + 1);
      if (of_version.find('-') != std::string::npos) {
        return absl::DataLossError(
            absl::StrCat("tree ", store_->prefix(), ": bad storage version \"", stored, "\""));
      }
      if (of_version != absl::StrCat(latest)) rebuild = true;
    }
  }
  if (!rebuild) return absl::OkStatus();
  batch->DeleteRange(fast_prefix_, absl::StrCat(store_->prefix(), std::string(1, kFastPrefix + 1)));
  absl::Status status = ExportNodes(store_.get(), anchor_, [&](const ExportNode& node) {
    if (node.height == 0) {
      EncodeFastNode(version_, *node.value, &record_);
      batch->Put(fast_prefix_, node.key, record_);
    }
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  PutStorageVersion(latest, batch);
  return absl::OkStatus();
}

void Tree::Impl::PutStorageVersion(int64_t version, WriteBatch* batch) const {
  batch->Put(store_->prefix(), kStorageVersionKey, absl::StrCat(storage_version_, "-", version));
}

// ---- Writing

absl::Status Tree::Impl::CheckPart(std::string_view part, const char* name) const {
  if (part.size() < kMaxPart) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("tree ", store_->prefix(), ": a ", name, " of ", part.size(), " bytes"));
}

absl::StatusOr<bool> Tree::Impl::Set(std::string_view key, std::string_view value) {
  if (absl::Status s = CheckPart(key, "key"); !s.ok()) return s;
  if (absl::Status s = CheckPart(value, "value"); !s.ok()) return s;
  pending_ = true;
  hashed_ = false;
  return editor_.Set(key, value);
}

absl::StatusOr<bool> Tree::Impl::Delete(std::string_view key) {
  absl::StatusOr<bool> existed = editor_.Delete(key);
  if (existed.ok() && *existed) {
    pending_ = true;
    hashed_ = false;
    if (options_.fast_nodes) removed_keys_.emplace_back(key);
  }
  return existed;
}

int64_t Tree::Impl::size() const {
  if (!anchor_->has_root()) return 0;
  absl::Status status;
  const Node* root = store_->Child(anchor_, kLeft, &status);
  if (root == nullptr) return 0;
  return root->is_leaf() ? 1 : AsInner(root)->size;
}

int32_t Tree::Impl::height() const {
  if (!anchor_->has_root()) return 0;
  absl::Status status;
  const Node* root = store_->Child(anchor_, kLeft, &status);
  return root == nullptr ? 0 : root->height;
}

// Lists the new nodes in pre-order, which is the order of their nonces. Saved subtrees are skipped.
void Tree::Impl::CollectNew(Inner* parent, int side) {
  new_nodes_.push_back({parent, side});
  parent->nonce(side) = static_cast<uint32_t>(new_nodes_.size());
  Node* node = parent->child[side];
  if (node->is_leaf()) return;
  Inner* inner = AsInner(node);
  const bool left = inner->version(kLeft) == editor_.working_version;
  const bool right = inner->version(kRight) == editor_.working_version;
  // It arrives while the left side is visited.
  if (right) PrefetchHeader(inner->child[kRight]);
  if (left) CollectNew(inner, kLeft);
  if (right) CollectNew(inner, kRight);
}

// Children come before their parents in the reverse of pre-order. With the list at hand, what is
// hashed next can be fetched while something else is hashed.
absl::Status Tree::Impl::HashNew() {
  constexpr size_t kAhead = 4;
  for (size_t i = new_nodes_.size(); i-- > 0;) {
    if (i >= kAhead) {
      const NewNode& next = new_nodes_[i - kAhead];
      PrefetchNode(next.parent->child[next.side]);
    }
    const auto [parent, side] = new_nodes_[i];
    if (parent->hash_valid(side)) continue;
    Node* node = parent->child[side];
    if (node->is_leaf()) {
      HashLeaf(editor_.working_version, AsLeaf(node)->key(), AsLeaf(node)->value(),
               parent->hash(side));
    } else {
      Inner* inner = AsInner(node);
      for (int child = 0; child < 2; ++child) {
        if (inner->hash_valid(child)) continue;
        if (absl::Status s = store_->EnsureHash(inner, child); !s.ok()) return s;
      }
      HashInner(inner->height, inner->size, editor_.working_version, inner->hash(kLeft),
                inner->hash(kRight), parent->hash(side));
    }
    parent->set_hash_valid(side, true);
  }
  return absl::OkStatus();
}

absl::StatusOr<Hash> Tree::Impl::WorkingHash() {
  if (!anchor_->has_root()) return Sha256({});
  if (anchor_->version(kLeft) == editor_.working_version && !hashed_) {
    new_nodes_.clear();
    CollectNew(anchor_, kLeft);
    if (absl::Status s = HashNew(); !s.ok()) return s;
  } else if (!hashed_) {
    if (absl::Status s = store_->EnsureHash(anchor_, kLeft); !s.ok()) return s;
  }
  hashed_ = true;
  Hash hash;
  std::memcpy(hash.data(), anchor_->hash(kLeft), kHashSize);
  return hash;
}

void Tree::Impl::EncodeRecord(const Inner* parent, int side, std::string* record) const {
  const Node* node = parent->child[side];
  if (node->is_leaf()) {
    EncodeLeaf(AsLeaf(node)->key(), AsLeaf(node)->value(), record);
  } else {
    const Inner* inner = AsInner(node);
    EncodeInner(inner->height, inner->size, inner->key(), parent->hash(side), inner->id(kLeft),
                inner->id(kRight), record);
  }
}

void Tree::Impl::PutNode(const Inner* parent, int side, WriteBatch* batch) {
  EncodeRecord(parent, side, &record_);
  batch->Put(store_->prefix(), ShortKey::Node(parent->version(side), parent->nonce(side)).view(),
             record_);
}

// Go writes in post-order, which makes no difference in one batch. Ascending keys do: a memtable
// finds the place of a key next to that of the one before.
void Tree::Impl::WriteNew(WriteBatch* batch) {
  for (const auto& [parent, side] : new_nodes_) PutNode(parent, side, batch);
  if (!options_.fast_nodes) return;
  for (const auto& [parent, side] : new_nodes_) {
    const Node* node = parent->child[side];
    if (!node->is_leaf()) continue;
    // Go gives fast nodes the number that follows the last version, also where the initial version
    // makes it another.
    EncodeFastNode(version_ + 1, AsLeaf(node)->value(), &record_);
    batch->Put(fast_prefix_, AsLeaf(node)->key(), record_);
  }
}

absl::Status Tree::Impl::WriteRoot(Inner* anchor, int64_t version, WriteBatch* batch) {
  const ShortKey place = ShortKey::Node(version, kRootNonce);
  if (!anchor->has_root()) {
    batch->Put(store_->prefix(), place.view(), {});
    return absl::OkStatus();
  }
  if (anchor->version(kLeft) == version) return absl::OkStatus();  // the node itself stands there
  if (anchor->legacy(kLeft)) {
    // References cannot name legacy nodes, so the root is rewritten.
    absl::Status status;
    if (store_->Child(anchor, kLeft, &status) == nullptr) return status;
    anchor->set_legacy(kLeft, false);
    anchor->nonce(kLeft) = 0;
    PutNode(anchor, kLeft, batch);
  }
  batch->Put(store_->prefix(), place.view(),
             ShortKey::Node(anchor->version(kLeft), anchor->nonce(kLeft)).view());
  return absl::OkStatus();
}

absl::Status Tree::Impl::WriteVersion(WriteBatch* batch) {
  const int64_t version = editor_.working_version;
  if (options_.fast_nodes) {
    // Before the additions: a key may have been removed and set again.
    std::sort(removed_keys_.begin(), removed_keys_.end());
    for (const std::string& key : removed_keys_) batch->Delete(fast_prefix_, key);
    PutStorageVersion(version, batch);
  }
  if (anchor_->has_root() && anchor_->version(kLeft) == version) {
    WriteNew(batch);
    return absl::OkStatus();
  }
  return WriteRoot(anchor_, version, batch);
}

// A version that the database has already may be made again if it comes out the same.
absl::StatusOr<std::optional<Hash>> Tree::Impl::AdoptExisting() {
  const int64_t version = editor_.working_version;
  if (version > disk_latest_) return std::nullopt;
  const absl::StatusOr<bool> exists = disk_.Exists(version);
  if (!exists.ok()) return exists.status();
  if (!*exists) return std::nullopt;
  const absl::StatusOr<Hash> hash = WorkingHash();
  if (!hash.ok()) return hash.status();
  const absl::StatusOr<std::optional<NodeId>> root = disk_.Root(version);
  if (!root.ok()) return root.status();
  Inner* existing = store_->NewAnchor();
  absl::Status status;
  Hash existing_hash = Sha256({});
  if (*root) {
    NodeStore::SetStubRoot(existing, **root);
    status = store_->EnsureHash(existing, kLeft);
    if (status.ok()) std::memcpy(existing_hash.data(), existing->hash(kLeft), kHashSize);
  }
  if (status.ok() && existing_hash != *hash) {
    status = absl::FailedPreconditionError(
        absl::StrCat("tree ", store_->prefix(), ": version ", version,
                     " was already saved with another hash; load it for overwriting"));
  }
  if (status.ok()) {
    store_->ClearRoot(anchor_);
    if (existing->has_root()) {
      NodeStore::MoveChild(existing, kLeft, anchor_, kLeft);
      anchor_->set_has_root(true);
      existing->child[kLeft] = nullptr;
    }
    // What the working version orphaned is found again in the database.
    infos_.back().orphans = Orphans();
  }
  store_->ClearRoot(existing);
  store_->FreeShallow(existing);
  if (!status.ok()) return status;
  return existing_hash;
}

absl::StatusOr<Hash> Tree::Impl::Commit(WriteBatch* batch) {
  const absl::StatusOr<std::optional<Hash>> adopted = AdoptExisting();
  if (!adopted.ok()) return adopted.status();
  const absl::StatusOr<Hash> hash = *adopted ? **adopted : WorkingHash();
  if (!hash.ok()) return hash.status();
  if (every() && !*adopted) {
    if (absl::Status s = WriteVersion(batch); !s.ok()) return s;
  }
  version_ = editor_.working_version;
  editor_.working_version = version_ + 1;
  hash_ = *hash;
  pending_ = false;
  hashed_ = true;
  removed_keys_.clear();
  new_nodes_.clear();
  if (first_ == 0) first_ = version_;
  if (*adopted) {
    // Without the orphans of the version before, its entry is of no use for pruning.
    for (VersionInfo& info : infos_) DropInfo(&info);
    infos_.clear();
    orphan_keys_ = 0;
  } else if (infos_.back().version == 0) {
    DropInfo(&infos_.back());
    infos_.pop_back();
  } else {
    orphan_keys_ += infos_.back().orphans.keys.size();
  }
  PushInfo();
  if (every() || *adopted) {
    store_->persisted_version = version_;
    editor_.dirty_bytes = 0;
    LimitOrphans();
  }
  committed_dirty_bytes_ = editor_.dirty_bytes;
  if (!every()) {
    if (absl::Status s = ForgetTo(version_ - options_.retained_versions); !s.ok()) return s;
  } else if (keeps_roots()) {
    // Only the last one is needed, for Rollback.
    for (size_t i = 0; i + 1 < infos_.size(); ++i) DropInfo(&infos_[i]);
  }
  return *hash;
}

void Tree::Impl::LimitOrphans() {
  while (orphan_keys_ > kMaxOrphanKeys && infos_.size() > 1) {
    orphan_keys_ -= infos_.front().orphans.keys.size();
    DropInfo(&infos_.front());
    infos_.pop_front();
  }
}

absl::Status Tree::Impl::Rollback() {
  if (!pending_) return absl::OkStatus();
  VersionInfo& last = infos_.back();
  if (last.anchor != nullptr) {
    store_->ClearRoot(anchor_);
    if (last.anchor->has_root()) {
      NodeStore::MoveChild(last.anchor, kLeft, anchor_, kLeft);
      if (anchor_->child[kLeft] != nullptr) NodeStore::Ref(anchor_->child[kLeft]);
      anchor_->set_has_root(true);
    }
  } else if (every() || version_ == 0) {
    store_->ClearRoot(anchor_);
    if (last.root) {
      NodeStore::SetStubRoot(anchor_, *last.root);
      absl::Status status;
      if (store_->Child(anchor_, kLeft, &status) == nullptr) return status;
      if (status = store_->EnsureHash(anchor_, kLeft); !status.ok()) return status;
    }
  } else {
    return absl::FailedPreconditionError(absl::StrCat(
        "tree ", store_->prefix(), ": its nodes are changed in place, so writes cannot be undone"));
  }
  last.orphans = Orphans();
  editor_.dirty_bytes = committed_dirty_bytes_;
  removed_keys_.clear();
  pending_ = false;
  hashed_ = false;
  return absl::OkStatus();
}

absl::Status Tree::Impl::SetInitialVersion(int64_t version) {
  if (version_ != 0 || pending_) {
    return absl::FailedPreconditionError(absl::StrCat(
        "tree ", store_->prefix(), ": the initial version comes too late at version ", version_));
  }
  options_.initial_version = version;
  editor_.working_version = std::max<int64_t>(version, 1);
  return absl::OkStatus();
}

// ---- Deferred persistence

// A node that was the root of a version which is not kept must not stand where roots do: Go would
// take it for a version.
void Tree::Impl::MoveIfNoVersion(Inner* parent, int side, int64_t flushed_before) {
  const int64_t first_kept = infos_.front().anchor != nullptr ? infos_.front().version : version_;
  const int64_t version = parent->version(side);
  if (parent->nonce(side) == kRootNonce && !parent->legacy(side) && version < first_kept &&
      version > flushed_before) {
    parent->nonce(side) = 0;
  }
}

void Tree::Impl::CollectUnpersisted(Inner* parent, int side, int64_t flushed_before,
                                    std::vector<NewNode>* nodes) {
  MoveIfNoVersion(parent, side, flushed_before);
  if (parent->version(side) <= store_->persisted_version) return;
  nodes->push_back({parent, side});
  Node* node = parent->child[side];
  if (node->is_leaf()) return;
  for (int i = 0; i < 2; ++i) CollectUnpersisted(AsInner(node), i, flushed_before, nodes);
}

void Tree::Impl::WriteUnpersisted(Inner* anchor, int64_t flushed_before, WriteBatch* batch) {
  std::vector<NewNode> nodes;
  CollectUnpersisted(anchor, kLeft, flushed_before, &nodes);
  // Ascending keys, as in WriteNew.
  std::sort(nodes.begin(), nodes.end(), [](const NewNode& a, const NewNode& b) {
    const int64_t a_version = a.parent->version(a.side);
    const int64_t b_version = b.parent->version(b.side);
    if (a_version != b_version) return a_version < b_version;
    return a.parent->nonce(a.side) < b.parent->nonce(b.side);
  });
  for (const auto& [parent, side] : nodes) PutNode(parent, side, batch);
}

absl::Status Tree::Impl::Flush(WriteBatch* batch) {
  if (every() || version_ == 0) return absl::OkStatus();
  if (pending_) {
    return absl::FailedPreconditionError(
        absl::StrCat("tree ", store_->prefix(), ": flushed with writes pending"));
  }
  if (!open_views_->empty() && open_views_->begin()->first < first_) {
    return absl::FailedPreconditionError(
        absl::StrCat("tree ", store_->prefix(), ": version ", open_views_->begin()->first,
                     " is being read, and flushing would remove it"));
  }
  if (absl::Status s = PruneDiskTo(first_ - 1, batch); !s.ok()) return s;
  batch->Append(removals_);
  removals_.Clear();
  if (store_->persisted_version == version_) return absl::OkStatus();
  const int64_t flushed_before = store_->persisted_version;
  for (VersionInfo& info : infos_) {
    if (info.version <= flushed_before) continue;
    Inner* anchor = info.version == version_ ? anchor_ : info.anchor;
    if (anchor->has_root()) WriteUnpersisted(anchor, flushed_before, batch);
    if (absl::Status s = WriteRoot(anchor, info.version, batch); !s.ok()) return s;
    info.root = RootOf(anchor);
    if (info.anchor != nullptr && info.root) {
      info.anchor->nonce(kLeft) = info.root->nonce;
      info.anchor->set_legacy(kLeft, info.root->legacy);
    }
    // What the following versions share with this one is written now.
    if (info.anchor != nullptr) store_->persisted_version = info.version;
  }
  store_->persisted_version = version_;
  if (disk_first_ == 0) disk_first_ = first_;
  editor_.dirty_bytes = committed_dirty_bytes_ = 0;
  return absl::OkStatus();
}

absl::Status Tree::Impl::ForgetTo(int64_t version) {
  while (infos_.size() > 1 && infos_.front().version <= version) {
    VersionInfo& info = infos_.front();
    if (absl::Status s = Expire(info, infos_[1].root, &removals_); !s.ok()) return s;
    orphan_keys_ -= info.orphans.keys.size();
    DropInfo(&info);
    infos_.pop_front();
  }
  first_ = std::max(first_, version + 1);
  return absl::OkStatus();
}

absl::Status Tree::Impl::PruneDiskTo(int64_t version, WriteBatch* batch) {
  if (disk_first_ == 0) return absl::OkStatus();
  if (latest_legacy_ > 0) {
    if (version < latest_legacy_) return absl::OkStatus();
    // The orphans of the version that was loaded are known and in removals_.
    if (latest_legacy_ < disk_latest_) {
      if (absl::Status s = disk_.DeleteLegacyOrphans(latest_legacy_, batch); !s.ok()) return s;
    }
    if (absl::Status s = disk_.DeleteLegacyRecords(latest_legacy_, batch); !s.ok()) return s;
    disk_first_ = latest_legacy_ + 1;
    latest_legacy_ = 0;
  }
  for (; disk_first_ <= version && disk_first_ < disk_latest_; ++disk_first_) {
    std::optional<std::string> moved;
    if (absl::Status s = disk_.DeleteVersion(disk_first_, batch, &moved); !s.ok()) return s;
    if (moved) {
      if (absl::Status s = RenameRoot(disk_first_, *moved); !s.ok()) return s;
    }
  }
  disk_first_ = std::max(disk_first_, version + 1);
  return absl::OkStatus();
}

// ---- Pruning

absl::Status Tree::Impl::Expire(VersionInfo& info, const std::optional<NodeId>& next_root,
                                WriteBatch* batch) {
  const int64_t persisted = store_->persisted_version;
  const bool legacy = info.version <= latest_legacy_;
  bool root_orphaned = false;
  // Ascending, as in WriteNew.
  std::sort(info.orphans.keys.begin(), info.orphans.keys.end(),
            [](const Orphans::Key& a, const Orphans::Key& b) {
              return a.version != b.version ? a.version < b.version : a.nonce < b.nonce;
            });
  for (const Orphans::Key& key : info.orphans.keys) {
    if (key.version > persisted) continue;  // never written
    root_orphaned |= key.version == info.version && key.nonce == kRootNonce;
    NodeId id;
    id.version = key.version;
    id.nonce = key.nonce;
    disk_.DeleteOrphan(info.version, id, nullptr, batch);
  }
  for (const Hash& hash : info.orphans.legacy) {
    batch->Delete(store_->prefix(), ShortKey::LegacyNode(hash).view());
  }
  if (legacy || info.version > persisted) return absl::OkStatus();
  // A leaf that was the root and is a child now would stand where roots do, after all of its
  // version is gone.
  const bool lives_on =
      !every() && !root_orphaned && info.root && info.root->IsRootOf(info.version);
  std::optional<std::string> moved;
  absl::Status status =
      disk_.DeleteRoot(info.version, info.root, lives_on ? info.root : next_root, batch, &moved);
  if (status.ok() && moved) status = RenameRoot(info.version, *moved);
  return status;
}

absl::Status Tree::Impl::RenameRoot(int64_t version, const std::string& record) {
  const auto rename = [version](Inner* parent, int side) {
    if (!parent->legacy(side) && parent->version(side) == version &&
        parent->nonce(side) == kRootNonce) {
      parent->nonce(side) = 0;
    }
  };
  for (VersionInfo& info : infos_) {
    if (info.version > version && info.root && info.root->IsRootOf(version)) info.root->nonce = 0;
    if (info.version > version && info.anchor != nullptr && info.anchor->has_root()) {
      rename(info.anchor, kLeft);
    }
  }
  if (!anchor_->has_root()) return absl::OkStatus();
  rename(anchor_, kLeft);
  NodeRecord node;
  if (DecodeNode(record, &node) != nullptr || node.height != 0) return absl::OkStatus();
  // A leaf may have become a child since.
  Inner* parent = anchor_;
  int side = kLeft;
  absl::Status status;
  while (Node* child = store_->Child(parent, side, &status)) {
    if (child->is_leaf()) break;
    parent = AsInner(child);
    side = CompareKeys(node.key, parent->key()) < 0 ? kLeft : kRight;
  }
  if (!status.ok()) return status;
  rename(parent, side);
  return absl::OkStatus();
}

absl::Status Tree::Impl::PruneEveryTo(int64_t version, WriteBatch* batch) {
  if (latest_legacy_ > version) return absl::OkStatus();
  if (latest_legacy_ > 0) {
    if (VersionInfo* info = FindInfo(latest_legacy_)) {
      if (absl::Status s = Expire(*info, std::nullopt, batch); !s.ok()) return s;
    } else if (absl::Status s = disk_.DeleteLegacyOrphans(latest_legacy_, batch); !s.ok()) {
      return s;
    }
    if (absl::Status s = disk_.DeleteLegacyRecords(latest_legacy_, batch); !s.ok()) return s;
    first_ = latest_legacy_ + 1;
    latest_legacy_ = 0;
  }
  for (; first_ <= version; ++first_) {
    absl::Status status;
    if (VersionInfo* info = FindInfo(first_)) {
      status = Expire(*info, FindInfo(first_ + 1)->root, batch);
    } else {
      std::optional<std::string> moved;
      status = disk_.DeleteVersion(first_, batch, &moved);
      if (status.ok() && moved) status = RenameRoot(first_, *moved);
    }
    if (!status.ok()) return status;
  }
  while (infos_.size() > 1 && infos_.front().version < first_) {
    orphan_keys_ -= infos_.front().orphans.keys.size();
    DropInfo(&infos_.front());
    infos_.pop_front();
  }
  return absl::OkStatus();
}

absl::Status Tree::Impl::DeleteVersionsTo(int64_t version, WriteBatch* batch) {
  if (version >= version_) {
    return absl::InvalidArgumentError(absl::StrCat("tree ", store_->prefix(), ": version ", version,
                                                   " is not below the latest, ", version_));
  }
  if (!open_views_->empty() && open_views_->begin()->first <= version) {
    return absl::FailedPreconditionError(absl::StrCat(
        "tree ", store_->prefix(), ": version ", open_views_->begin()->first, " is being read"));
  }
  return every() ? PruneEveryTo(version, batch) : ForgetTo(version);
}

void Tree::Impl::Trim(size_t target) {
  store_->memory_target = target;
  store_->Sweep(anchor_, target);
}

// ---- Versions

absl::StatusOr<bool> Tree::Impl::Available(int64_t version) const {
  if (version < first_ || version > version_ || first_ == 0) return false;
  if (every() && version <= latest_legacy_) return disk_.Exists(version);
  if (every() || version == version_) return true;
  if (version < disk_latest_) return disk_.Exists(version);
  return version == store_->persisted_version ||
         (infos_.front().anchor != nullptr && version >= infos_.front().version);
}

absl::StatusOr<std::vector<int64_t>> Tree::Impl::AvailableVersions() const {
  std::vector<int64_t> versions;
  int64_t version = first_;
  if (latest_legacy_ > 0 && first_ <= latest_legacy_) {
    absl::StatusOr<std::vector<int64_t>> legacy = disk_.LegacyVersions();
    if (!legacy.ok()) return legacy.status();
    for (const int64_t v : *legacy) {
      if (v >= first_ && v <= latest_legacy_) versions.push_back(v);
    }
    version = latest_legacy_ + 1;
  }
  for (; version <= version_ && version > 0; ++version) {
    const absl::StatusOr<bool> available = Available(version);
    if (!available.ok()) return available.status();
    if (*available) versions.push_back(version);
  }
  return versions;
}

absl::StatusOr<std::unique_ptr<View>> Tree::Impl::GetImmutable(int64_t version) {
  const absl::StatusOr<bool> available = Available(version);
  if (!available.ok()) return available.status();
  if (!*available) {
    return absl::NotFoundError(absl::StrCat("tree ", store_->prefix(), ": version ", version,
                                            " does not exist or is not kept; versions ", first_,
                                            " to ", version_, " are"));
  }
  Inner* shared = nullptr;
  if (version == version_ && !pending_) {
    shared = anchor_;
  } else if (const VersionInfo* info = FindInfo(version)) {
    shared = info->anchor;
  }
  std::unique_ptr<ViewSource> source;
  if (shared != nullptr) {
    source = std::make_unique<ViewSource>(store_.get(), version, open_views_);
    if (shared->has_root()) {
      absl::Status status;
      if (store_->Child(shared, kLeft, &status) == nullptr) return status;
      NodeStore::MoveChild(shared, kLeft, source->anchor(), kLeft);
      NodeStore::Ref(shared->child[kLeft]);
      source->anchor()->set_has_root(true);
    }
  } else if (every() || version <= store_->persisted_version) {
    const absl::StatusOr<std::optional<NodeId>> root = disk_.Root(version);
    if (!root.ok()) return root.status();
    source = std::make_unique<ViewSource>(
        std::make_unique<NodeStore>(store_->db(), store_->prefix()), version, open_views_);
    source->store()->persisted_version = version;
    if (*root) NodeStore::SetStubRoot(source->anchor(), **root);
  } else {
    return absl::FailedPreconditionError(
        absl::StrCat("tree ", store_->prefix(), ": version ", version,
                     " is in memory only and has writes pending on top of it"));
  }
  if (absl::Status s = ResolveRoot(source.get()); !s.ok()) return s;
  return std::make_unique<View>(std::move(source));
}

}  // namespace blockreplay::storage::iavl
