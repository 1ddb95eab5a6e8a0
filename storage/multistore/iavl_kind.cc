#include "storage/iavl/tree.h"
#include "storage/multistore/commit_info.h"
#include "storage/multistore/tree_kind.h"

namespace blockreplay::storage {
namespace {

class IavlKindImpl final : public TreeKind {
 public:
  absl::StatusOr<std::unique_ptr<CommitTree>> Load(const Reader* db, const std::string& store,
                                                   const Settings& settings, int64_t version,
                                                   bool delete_later,
                                                   WriteBatch* batch) const override {
    const iavl::TreeOptions options{
        .persist = settings.persistence == Persistence::kEvery ? iavl::Persist::kEvery
                                                               : iavl::Persist::kDeferred,
        .fast_nodes = settings.persistence == Persistence::kEvery && settings.fast_nodes,
        .initial_version = settings.initial_version,
        .retained_versions = settings.retained_versions,
        .copy_on_write = settings.copy_on_write};
    const std::string prefix = StorePrefix(store);
    absl::StatusOr<std::unique_ptr<iavl::Tree>> tree =
        delete_later ? iavl::Tree::LoadForOverwriting(db, prefix, options, version, batch)
                     : iavl::Tree::Load(db, prefix, options, version, batch);
    if (!tree.ok()) return tree.status();
    return *std::move(tree);
  }

  absl::StatusOr<int64_t> LatestVersion(const Reader& db, const std::string& store) const override {
    return iavl::Tree::LatestVersion(&db, StorePrefix(store));
  }

  size_t DirtyBytes(const CommitTree& tree) const override {
    return static_cast<const iavl::Tree&>(tree).dirty_bytes();
  }
};

}  // namespace

const TreeKind* IavlKind() {
  static const IavlKindImpl* const kind = new IavlKindImpl();
  return kind;
}

}  // namespace blockreplay::storage
