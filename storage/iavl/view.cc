#include "storage/iavl/view.h"

#include <utility>

#include "storage/iavl/traverse.h"
#include "storage/iavl/view_source.h"
#include "storage/sha256.h"

namespace blockreplay::storage::iavl {

ViewSource::ViewSource(NodeStore* shared, int64_t version, std::shared_ptr<OpenViews> open_views)
    : store_(shared),
      anchor_(shared->NewAnchor()),
      version_(version),
      open_views_(std::move(open_views)) {
  ++(*open_views_)[version_];
}

ViewSource::ViewSource(std::unique_ptr<NodeStore> own, int64_t version,
                       std::shared_ptr<OpenViews> open_views)
    : own_(std::move(own)),
      store_(own_.get()),
      anchor_(store_->NewAnchor()),
      version_(version),
      open_views_(std::move(open_views)) {
  ++(*open_views_)[version_];
}

ViewSource::~ViewSource() {
  store_->ClearRoot(anchor_);
  store_->FreeShallow(anchor_);
  const auto it = open_views_->find(version_);
  if (--it->second == 0) open_views_->erase(it);
}

absl::Status ResolveRoot(ViewSource* source) {
  Inner* anchor = source->anchor();
  if (!anchor->has_root()) {
    source->hash = Sha256({});
    return absl::OkStatus();
  }
  absl::Status status;
  const Node* root = source->store()->Child(anchor, kLeft, &status);
  if (root == nullptr) return status;
  if (absl::Status s = source->store()->EnsureHash(anchor, kLeft); !s.ok()) return s;
  std::memcpy(source->hash.data(), anchor->hash(kLeft), kHashSize);
  source->size = root->is_leaf() ? 1 : AsInner(root)->size;
  source->height = root->height;
  return status;
}

View::View(std::unique_ptr<ViewSource> source) : source_(std::move(source)) {}
View::~View() = default;

int64_t View::version() const { return source_->version(); }
Hash View::hash() const { return source_->hash; }
int64_t View::size() const { return source_->size; }
int32_t View::height() const { return source_->height; }

absl::StatusOr<bool> View::Get(std::string_view key, std::string* value) const {
  absl::Status status;
  const Leaf* leaf = FindLeaf(source_->store(), source_->anchor(), key, &status);
  if (!status.ok()) return status;
  if (leaf == nullptr) return false;
  value->assign(leaf->value());
  return true;
}

absl::StatusOr<bool> View::Has(std::string_view key) const {
  absl::Status status;
  const Leaf* leaf = FindLeaf(source_->store(), source_->anchor(), key, &status);
  if (!status.ok()) return status;
  return leaf != nullptr;
}

std::unique_ptr<Iterator> View::NewIterator(const KeyRange& range, Direction direction) const {
  return NewTreeIterator(source_->store(), source_->anchor(), range, direction);
}

absl::Status View::Export(const std::function<absl::Status(const ExportNode&)>& visit) const {
  return ExportNodes(source_->store(), source_->anchor(), visit);
}

absl::StatusOr<std::optional<MembershipPath>> View::GetPath(std::string_view key) const {
  return FindPath(source_->store(), source_->anchor(), key);
}

absl::StatusOr<NeighbourPaths> View::GetNeighbours(std::string_view key) const {
  NeighbourPaths paths;
  const std::unique_ptr<Iterator> next =
      NewIterator(KeyRange{std::string(key), std::nullopt}, Direction::kForward);
  if (next->Valid()) {
    if (next->key() == key) {
      return absl::InvalidArgumentError("neighbours were asked for, but the key exists");
    }
    absl::StatusOr<std::optional<MembershipPath>> path = GetPath(next->key());
    if (!path.ok()) return path.status();
    paths.right = *std::move(path);
  } else if (!next->status().ok()) {
    return next->status();
  }
  const std::unique_ptr<Iterator> previous =
      NewIterator(KeyRange{"", std::string(key)}, Direction::kReverse);
  if (previous->Valid()) {
    absl::StatusOr<std::optional<MembershipPath>> path = GetPath(previous->key());
    if (!path.ok()) return path.status();
    paths.left = *std::move(path);
  } else if (!previous->status().ok()) {
    return previous->status();
  }
  return paths;
}

absl::Status View::ForEachLeafSince(
    int64_t after, const std::function<absl::Status(std::string_view key, std::string_view value,
                                                    int64_t version)>& visit) const {
  return VisitLeavesSince(source_->store(), source_->anchor(), after, visit);
}

absl::Status DiffLeaves(
    const View& from, const View& to,
    const std::function<absl::Status(std::string_view key, std::optional<std::string_view> before,
                                     std::optional<std::string_view> after)>& visit) {
  return VisitDifferences(from.source_->store(), from.source_->anchor(), to.source_->store(),
                          to.source_->anchor(), visit);
}

}  // namespace blockreplay::storage::iavl
