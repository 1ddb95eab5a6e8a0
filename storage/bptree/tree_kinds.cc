#include "storage/bptree/tree_kinds.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "storage/bptree/commit_info.h"
#include "storage/bptree/raw_store.h"
#include "storage/bptree/tree.h"

namespace blockreplay::storage::bptree {
namespace {

class TreeStoreKindImpl final : public TreeKind {
 public:
  absl::StatusOr<std::unique_ptr<CommitTree>> Load(const Reader* db, const std::string& /*store*/,
                                                   const Settings& settings, int64_t version,
                                                   bool delete_later,
                                                   WriteBatch* batch) const override {
    TreeOptions options;
    options.key_prefix = kSharedPrefix;
    options.persist =
        settings.persistence == Persistence::kEvery ? Persist::kEvery : Persist::kDeferred;
    options.retain_history = settings.retained_versions > 1 || settings.copy_on_write;
    options.retained_versions = std::max<int64_t>(1, settings.retained_versions);
    options.fast_index = settings.fast_nodes;
    options.initial_version = settings.initial_version;
    absl::StatusOr<std::unique_ptr<Tree>> tree =
        delete_later ? Tree::OpenForOverwriting(db, std::move(options), version, batch)
                     : Tree::Open(db, std::move(options), version);
    if (!tree.ok()) return tree.status();
    return *std::move(tree);
  }

  absl::StatusOr<int64_t> LatestVersion(const Reader& db,
                                        const std::string& /*store*/) const override {
    TreeOptions options;
    options.key_prefix = kSharedPrefix;
    return Tree::LatestVersion(db, options);
  }

  size_t DirtyBytes(const CommitTree& tree) const override {
    return static_cast<const Tree&>(tree).dirty_bytes();
  }
};

class RawStoreKindImpl final : public TreeKind {
 public:
  absl::StatusOr<std::unique_ptr<CommitTree>> Load(const Reader* db, const std::string& /*store*/,
                                                   const Settings& settings, int64_t version,
                                                   bool /*delete_later*/,
                                                   WriteBatch* /*batch*/) const override {
    return std::make_unique<RawStore>(
        db,
        RawStore::Options{.key_prefix = kSharedPrefix,
                          .write_on_commit = settings.persistence == Persistence::kEvery,
                          .initial_version = settings.initial_version},
        version);
  }

  // It has none of its own, and so is never ahead of the multistore.
  absl::StatusOr<int64_t> LatestVersion(const Reader& /*db*/,
                                        const std::string& /*store*/) const override {
    return 0;
  }

  size_t DirtyBytes(const CommitTree& tree) const override { return tree.memory_bytes(); }
};

}  // namespace

const TreeKind* TreeStoreKind() {
  static const TreeStoreKindImpl* const kind = new TreeStoreKindImpl();
  return kind;
}

const TreeKind* RawStoreKind() {
  static const RawStoreKindImpl* const kind = new RawStoreKindImpl();
  return kind;
}

}  // namespace blockreplay::storage::bptree
