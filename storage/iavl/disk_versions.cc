#include "storage/iavl/disk_versions.h"

#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace blockreplay::storage::iavl {
namespace {

constexpr int64_t kMaxVersion = std::numeric_limits<int64_t>::max();

std::string VersionKey(char prefix, int64_t version) {
  std::string key(9, prefix);
  PutBigEndian64(key.data() + 1, static_cast<uint64_t>(version));
  return key;
}

// Version in a key that begins with one letter and a big-endian version, or 0 if it is none.
int64_t VersionOf(std::string_view key_below_prefix) {
  if (key_below_prefix.size() < 9) return 0;
  const uint64_t version = GetBigEndian64(key_below_prefix.data() + 1);
  return version > static_cast<uint64_t>(kMaxVersion) ? 0 : static_cast<int64_t>(version);
}

}  // namespace

struct DiskVersions::DiskNode {
  NodeId id;  // with the version also for legacy nodes
  Hash hash{};
  int32_t height = 0;
  NodeId child[2];
};

// Pre-order over the nodes of one version.
class DiskVersions::Walk {
 public:
  explicit Walk(const DiskVersions* disk) : disk_(disk) {}

  absl::Status Start(const std::optional<NodeId>& root) {
    if (!root) return absl::OkStatus();
    stack_.push_back({*root, kMaxHeight + 1});
    return Enter();
  }

  bool valid() const { return valid_; }
  const DiskNode& node() const { return node_; }

  absl::Status Next(bool skip_subtree) {
    stack_.pop_back();
    if (!skip_subtree && node_.height > 0) {
      stack_.push_back({node_.child[kRight], node_.height});
      stack_.push_back({node_.child[kLeft], node_.height});
    }
    return Enter();
  }

 private:
  struct Pending {
    NodeId id;
    int height_above;  // its height must be lower
  };

  absl::Status Enter() {
    valid_ = false;
    if (stack_.empty()) return absl::OkStatus();
    absl::Status status = disk_->ReadNode(stack_.back().id, stack_.back().height_above - 1, &node_);
    valid_ = status.ok();
    return status;
  }

  const DiskVersions* disk_;
  std::vector<Pending> stack_;
  DiskNode node_;
  bool valid_ = false;
};

std::string DiskVersions::Key(std::string_view below) const {
  return absl::StrCat(store_->prefix(), ForAbsl(below));
}

absl::StatusOr<std::optional<std::string>> DiskVersions::EdgeKey(std::string_view start,
                                                                 std::string_view end,
                                                                 Direction direction) const {
  const std::unique_ptr<Iterator> it =
      store_->db()->NewIterator(KeyRange{Key(start), Key(end)}, direction);
  if (it->Valid()) return std::string(it->key().substr(store_->prefix().size()));
  if (!it->status().ok()) return it->status();
  return std::nullopt;
}

absl::StatusOr<int64_t> DiskVersions::Latest() const {
  const absl::StatusOr<std::optional<std::string>> key = EdgeKey(
      VersionKey(kNodePrefix, 1), VersionKey(kNodePrefix, kMaxVersion), Direction::kReverse);
  if (!key.ok()) return key.status();
  if (*key) {
    const int64_t version = VersionOf(**key);
    if (version < 1) {
      return absl::DataLossError(
          absl::StrCat("tree ", store_->prefix(), ": a node key is too short"));
    }
    return version;
  }
  return LatestLegacy();
}

absl::StatusOr<int64_t> DiskVersions::LatestLegacy() const {
  const absl::StatusOr<std::optional<std::string>> key =
      EdgeKey(VersionKey(kLegacyRootPrefix, 1), VersionKey(kLegacyRootPrefix, kMaxVersion),
              Direction::kReverse);
  if (!key.ok()) return key.status();
  return *key ? VersionOf(**key) : 0;
}

absl::StatusOr<int64_t> DiskVersions::First(int64_t latest) const {
  const absl::StatusOr<std::optional<std::string>> key =
      EdgeKey(VersionKey(kLegacyRootPrefix, 1), VersionKey(kLegacyRootPrefix, kMaxVersion),
              Direction::kForward);
  if (!key.ok()) return key.status();
  if (*key) return VersionOf(**key);
  const auto has_root = [this](int64_t version) {
    return store_->db()->Has(Key(ShortKey::Node(version, kRootNonce).view()));
  };
  int64_t low = 0;
  while (true) {
    int64_t high = latest;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      const absl::StatusOr<bool> exists = has_root(middle);
      if (!exists.ok()) return exists.status();
      if (*exists) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    if (high >= latest) return high;
    const absl::StatusOr<bool> next_exists = has_root(high + 1);
    if (!next_exists.ok() || *next_exists) {
      return next_exists.ok() ? absl::StatusOr<int64_t>(high) : next_exists.status();
    }
    // A leaf that was the root of a version pruned long ago.
    low = high + 1;
  }
}

absl::StatusOr<bool> DiskVersions::Exists(int64_t version) const {
  const absl::StatusOr<bool> exists =
      store_->db()->Has(Key(ShortKey::Node(version, kRootNonce).view()));
  if (!exists.ok() || *exists) return exists;
  return store_->db()->Has(Key(ShortKey::LegacyRoot(version).view()));
}

absl::StatusOr<std::vector<int64_t>> DiskVersions::LegacyVersions() const {
  std::vector<int64_t> versions;
  const std::unique_ptr<Iterator> it = store_->db()->NewIterator(
      KeyRange::Prefix(Key(std::string_view(&kLegacyRootPrefix, 1))), Direction::kForward);
  for (; it->Valid(); it->Next()) {
    versions.push_back(VersionOf(it->key().substr(store_->prefix().size())));
  }
  if (!it->status().ok()) return it->status();
  return versions;
}

absl::StatusOr<std::optional<NodeId>> DiskVersions::Root(int64_t version) const {
  std::string value;
  absl::StatusOr<bool> found =
      store_->db()->Get(Key(ShortKey::Node(version, kRootNonce).view()), &value);
  if (!found.ok()) return found.status();
  NodeId id;
  id.version = version;
  id.nonce = kRootNonce;
  if (!*found) {
    found = store_->db()->Get(Key(ShortKey::LegacyRoot(version).view()), &value);
    if (!found.ok()) return found.status();
    if (!*found) {
      return absl::NotFoundError(
          absl::StrCat("tree ", store_->prefix(), ": there is no version ", version));
    }
    if (value.empty()) return std::nullopt;
    if (value.size() != kHashSize) return store_->Corrupt(id, "bad legacy root");
    NodeId legacy;
    legacy.legacy = true;
    std::memcpy(legacy.hash.data(), value.data(), kHashSize);
    return legacy;
  }
  RootKind kind;
  NodeId target;
  if (const char* error = DecodeRoot(value, &kind, &target)) return store_->Corrupt(id, error);
  if (kind == RootKind::kEmpty) return std::nullopt;
  if (kind == RootKind::kNode) return id;
  if (target.version >= version) return store_->Corrupt(id, "refers to a later root");
  std::string record;
  bool moved;
  found = store_->ReadRecord(target, &record, &moved);
  if (!found.ok()) return found.status();
  if (!*found) {
    return absl::NotFoundError(absl::StrCat("tree ", store_->prefix(), ": version ", version,
                                            " refers to the root ", target.ToString(),
                                            ", which is absent"));
  }
  if (moved) target.nonce = kRootNonce - target.nonce;
  return target;
}

absl::Status DiskVersions::ReadNode(const NodeId& id, int max_height, DiskNode* node) const {
  std::string bytes;
  bool moved;
  const absl::StatusOr<bool> found = store_->ReadRecord(id, &bytes, &moved);
  if (!found.ok()) return found.status();
  if (!*found) return store_->Corrupt(id, "absent from the database");
  NodeRecord record;
  const char* error = id.legacy ? DecodeLegacyNode(bytes, &record) : DecodeNode(bytes, &record);
  if (error == nullptr && record.height > max_height) error = "not lower than its parent";
  if (error != nullptr) return store_->NoNode(id, bytes, error);
  node->id = id;
  node->height = record.height;
  if (id.legacy) {
    node->id.version = record.version;
    node->hash = id.hash;
  } else if (record.height == 0) {
    HashLeaf(id.version, record.key, record.value, node->hash.data());
  } else {
    node->hash = record.hash;
  }
  node->child[kLeft] = record.child[kLeft];
  node->child[kRight] = record.child[kRight];
  return absl::OkStatus();
}

absl::Status DiskVersions::VisitOrphans(
    int64_t version,
    const std::function<absl::Status(const NodeId& id, const Hash& hash)>& visit) const {
  absl::StatusOr<std::optional<NodeId>> next_root = Root(version + 1);
  if (!next_root.ok()) return next_root.status();
  absl::StatusOr<std::optional<NodeId>> root = Root(version);
  if (!root.ok()) return root.status();
  Walk next(this);
  Walk old(this);
  if (absl::Status s = next.Start(*next_root); !s.ok()) return s;
  if (absl::Status s = old.Start(*root); !s.ok()) return s;
  // Both walks meet the subtrees that the trees share in the same order.
  std::optional<Hash> shared;
  while (old.valid()) {
    while (!shared && next.valid()) {
      const bool is_shared = next.node().id.version <= version;
      if (is_shared) shared = next.node().hash;
      if (absl::Status s = next.Next(is_shared); !s.ok()) return s;
    }
    const bool keep = shared && old.node().hash == *shared;
    if (keep) {
      shared.reset();
    } else if (absl::Status s = visit(old.node().id, old.node().hash); !s.ok()) {
      return s;
    }
    if (absl::Status s = old.Next(keep); !s.ok()) return s;
  }
  return absl::OkStatus();
}

void DiskVersions::DeleteOrphan(int64_t version, const NodeId& id, const Hash* hash,
                                WriteBatch* batch) const {
  if (!id.legacy && id.nonce == 0 && hash != nullptr) {
    // It may be a legacy root that was rewritten in the new format.
    batch->Delete(store_->prefix(), ShortKey::LegacyNode(*hash).view());
  }
  NodeId place = id;
  if (!id.legacy && id.nonce == kRootNonce && id.version < version) {
    // A root that outlived its version was moved. One that had become a child was not, and stays
    // for ever in Go.
    if (leaves_nothing_) batch->Delete(store_->prefix(), ShortKey::Node(place).view());
    place.nonce = 0;
  }
  batch->Delete(store_->prefix(), ShortKey::Node(place).view());
}

absl::Status DiskVersions::DeleteRoot(int64_t version, const std::optional<NodeId>& root,
                                      const std::optional<NodeId>& next_root, WriteBatch* batch,
                                      std::optional<std::string>* moved) const {
  const ShortKey place = ShortKey::Node(version, kRootNonce);
  if (!root || !root->IsRootOf(version)) batch->Delete(store_->prefix(), place.view());
  if (!next_root || !next_root->IsRootOf(version)) return absl::OkStatus();
  // The next version refers to this root: keep it where it does not count as a version.
  std::string record;
  const absl::StatusOr<bool> found = store_->db()->Get(Key(place.view()), &record);
  if (!found.ok()) return found.status();
  if (!*found) return store_->Corrupt(*next_root, "absent from the database");
  batch->Delete(store_->prefix(), place.view());
  batch->Put(store_->prefix(), ShortKey::Node(version, 0).view(), record);
  *moved = std::move(record);
  return absl::OkStatus();
}

absl::Status DiskVersions::DeleteVersion(int64_t version, WriteBatch* batch,
                                         std::optional<std::string>* moved) const {
  const absl::StatusOr<std::optional<NodeId>> root = Root(version);
  if (!root.ok()) return root.status();
  const absl::StatusOr<std::optional<NodeId>> next_root = Root(version + 1);
  if (!next_root.ok()) return next_root.status();
  absl::Status status = VisitOrphans(version, [&](const NodeId& id, const Hash& hash) {
    DeleteOrphan(version, id, &hash, batch);
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return DeleteRoot(version, *root, *next_root, batch, moved);
}

absl::Status DiskVersions::DeleteLegacyOrphans(int64_t latest_legacy, WriteBatch* batch) const {
  return VisitOrphans(latest_legacy, [&](const NodeId& id, const Hash& hash) {
    (void)id;
    batch->Delete(store_->prefix(), ShortKey::LegacyNode(hash).view());
    return absl::OkStatus();
  });
}

absl::Status DiskVersions::DeleteLegacyRecords(int64_t latest_legacy, WriteBatch* batch) const {
  std::unique_ptr<Iterator> it = store_->db()->NewIterator(
      KeyRange::Prefix(Key(std::string_view(&kLegacyOrphanPrefix, 1))), Direction::kForward);
  constexpr size_t kOrphanKeySize = 1 + 8 + 8 + kHashSize;
  for (; it->Valid(); it->Next()) {
    const std::string_view key = it->key().substr(store_->prefix().size());
    batch->Delete(it->key());
    if (key.size() != kOrphanKeySize || it->value().size() != kHashSize) continue;
    const auto last = static_cast<int64_t>(GetBigEndian64(key.data() + 1));
    const auto first = static_cast<int64_t>(GetBigEndian64(key.data() + 9));
    if ((first <= latest_legacy && last < latest_legacy) || first > latest_legacy) {
      Hash hash;
      std::memcpy(hash.data(), it->value().data(), kHashSize);
      batch->Delete(store_->prefix(), ShortKey::LegacyNode(hash).view());
    }
  }
  if (!it->status().ok()) return it->status();
  it = store_->db()->NewIterator(KeyRange::Prefix(Key(std::string_view(&kLegacyRootPrefix, 1))),
                                 Direction::kForward);
  for (; it->Valid(); it->Next()) batch->Delete(it->key());
  return it->status();
}

absl::Status DiskVersions::DeleteLegacyNodesFrom(int64_t version, const Hash& hash, int max_height,
                                                 WriteBatch* batch) const {
  NodeId id;
  id.legacy = true;
  id.hash = hash;
  DiskNode node;
  if (absl::Status s = ReadNode(id, max_height, &node); !s.ok()) return s;
  if (node.id.version < version) return absl::OkStatus();
  if (node.height > 0) {
    for (const NodeId& child : node.child) {
      if (absl::Status s = DeleteLegacyNodesFrom(version, child.hash, node.height - 1, batch);
          !s.ok()) {
        return s;
      }
    }
  }
  batch->Delete(store_->prefix(), ShortKey::LegacyNode(hash).view());
  return absl::OkStatus();
}

absl::Status DiskVersions::DeleteVersionsAbove(int64_t version, WriteBatch* batch) const {
  const absl::StatusOr<int64_t> latest = Latest();
  if (!latest.ok()) return latest.status();
  if (*latest <= version) return absl::OkStatus();
  const absl::StatusOr<int64_t> latest_legacy = LatestLegacy();
  if (!latest_legacy.ok()) return latest_legacy.status();
  int64_t from = version + 1;
  if (*latest_legacy >= from) {
    const std::unique_ptr<Iterator> it =
        store_->db()->NewIterator(KeyRange{Key(VersionKey(kLegacyRootPrefix, from)),
                                           Key(VersionKey(kLegacyRootPrefix, *latest_legacy + 1))},
                                  Direction::kForward);
    for (; it->Valid(); it->Next()) {
      if (it->value().size() == kHashSize) {
        Hash hash;
        std::memcpy(hash.data(), it->value().data(), kHashSize);
        const int64_t root_version = VersionOf(it->key().substr(store_->prefix().size()));
        if (absl::Status s = DeleteLegacyNodesFrom(root_version, hash, kMaxHeight, batch);
            !s.ok()) {
          return s;
        }
      }
      batch->Delete(it->key());
    }
    if (!it->status().ok()) return it->status();
    from = *latest_legacy + 1;
  }
  if (*latest >= from) {
    batch->DeleteRange(Key(VersionKey(kNodePrefix, from)),
                       Key(VersionKey(kNodePrefix, *latest + 1)));
  }
  return absl::OkStatus();
}

}  // namespace blockreplay::storage::iavl
