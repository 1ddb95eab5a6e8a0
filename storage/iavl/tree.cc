#include "storage/iavl/tree.h"

#include <utility>

#include "storage/iavl/traverse.h"
#include "storage/iavl/tree_impl.h"

namespace blockreplay::storage::iavl {

Tree::Tree(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Tree::~Tree() = default;

absl::StatusOr<std::unique_ptr<Tree>> Tree::Load(const Reader* db, std::string prefix,
                                                 const TreeOptions& options, int64_t version,
                                                 WriteBatch* batch) {
  auto impl = std::make_unique<Impl>(db, std::move(prefix), options);
  if (absl::Status s = impl->Load(version, /*overwrite=*/false, batch); !s.ok()) return s;
  return std::unique_ptr<Tree>(new Tree(std::move(impl)));
}

absl::StatusOr<std::unique_ptr<Tree>> Tree::LoadForOverwriting(const Reader* db, std::string prefix,
                                                               const TreeOptions& options,
                                                               int64_t version, WriteBatch* batch) {
  auto impl = std::make_unique<Impl>(db, std::move(prefix), options);
  if (absl::Status s = impl->Load(version, /*overwrite=*/true, batch); !s.ok()) return s;
  return std::unique_ptr<Tree>(new Tree(std::move(impl)));
}

absl::StatusOr<int64_t> Tree::LatestVersion(const Reader* db, std::string_view prefix) {
  const NodeStore store(db, std::string(prefix));
  return DiskVersions(&store, /*leaves_nothing=*/false).Latest();
}

absl::StatusOr<std::optional<std::string_view>> Tree::Find(std::string_view key) const {
  absl::Status status;
  const Leaf* leaf = FindLeaf(impl_->store(), impl_->anchor(), key, &status);
  if (leaf != nullptr) return leaf->value();
  if (!status.ok()) return status;
  return std::nullopt;
}

absl::StatusOr<bool> Tree::Get(std::string_view key, std::string* value) const {
  absl::Status status;
  const Leaf* leaf = FindLeaf(impl_->store(), impl_->anchor(), key, &status);
  if (leaf != nullptr) {
    value->assign(leaf->value());
    return true;
  }
  if (!status.ok()) return status;
  return false;
}

absl::StatusOr<bool> Tree::Has(std::string_view key) const {
  absl::Status status;
  const Leaf* leaf = FindLeaf(impl_->store(), impl_->anchor(), key, &status);
  if (!status.ok()) return status;
  return leaf != nullptr;
}

std::unique_ptr<Iterator> Tree::NewIterator(const KeyRange& range, Direction direction) const {
  return NewTreeIterator(impl_->store(), impl_->anchor(), range, direction);
}

absl::Status Tree::Set(std::string_view key, std::string_view value) {
  return impl_->Set(key, value).status();
}

absl::Status Tree::Delete(std::string_view key) { return impl_->Delete(key).status(); }

absl::StatusOr<bool> Tree::SetAndReport(std::string_view key, std::string_view value) {
  return impl_->Set(key, value);
}

absl::StatusOr<bool> Tree::DeleteAndReport(std::string_view key) { return impl_->Delete(key); }

int64_t Tree::version() const { return impl_->version(); }
Hash Tree::hash() const { return impl_->hash(); }
int64_t Tree::next_version() const { return impl_->next_version(); }
absl::StatusOr<Hash> Tree::WorkingHash() { return impl_->WorkingHash(); }
absl::StatusOr<Hash> Tree::Commit(WriteBatch* batch) { return impl_->Commit(batch); }
absl::Status Tree::Flush(WriteBatch* batch) { return impl_->Flush(batch); }
absl::Status Tree::Rollback() { return impl_->Rollback(); }

absl::Status Tree::DeleteVersionsTo(int64_t version, WriteBatch* batch) {
  return impl_->DeleteVersionsTo(version, batch);
}

size_t Tree::memory_bytes() const { return impl_->store()->live_bytes(); }
void Tree::Trim(size_t target) { impl_->Trim(target); }

absl::Status Tree::SetInitialVersion(int64_t version) { return impl_->SetInitialVersion(version); }

int64_t Tree::size() const { return impl_->size(); }
int32_t Tree::height() const { return impl_->height(); }
size_t Tree::dirty_bytes() const { return impl_->dirty_bytes(); }

absl::StatusOr<int64_t> Tree::FirstVersion() const { return impl_->first_version(); }

absl::StatusOr<std::vector<int64_t>> Tree::AvailableVersions() const {
  return impl_->AvailableVersions();
}

absl::StatusOr<std::unique_ptr<View>> Tree::GetImmutable(int64_t version) const {
  return impl_->GetImmutable(version);
}

}  // namespace blockreplay::storage::iavl
