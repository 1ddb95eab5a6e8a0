#include "storage/multistore/diff.h"

#include <map>
#include <memory>
#include <utility>

namespace blockreplay::storage {
namespace {

// An iterator over a store that may be absent.
class Side {
 public:
  static absl::StatusOr<Side> Open(MultistoreView* view, std::string_view store) {
    Side side;
    if (view->commit_info().Find(store) == nullptr) return side;
    absl::StatusOr<const Reader*> reader = view->reader(store);
    if (!reader.ok()) return reader.status();
    side.it_ = (*reader)->NewIterator(KeyRange::All(), Direction::kForward);
    return side;
  }
  bool Valid() const { return it_ != nullptr && it_->Valid(); }
  std::string_view key() const { return it_->key(); }
  std::string_view value() const { return it_->value(); }
  void Next() { it_->Next(); }
  absl::Status status() const { return it_ != nullptr ? it_->status() : absl::OkStatus(); }

 private:
  std::unique_ptr<Iterator> it_;
};

}  // namespace

std::vector<StoreDifference> CompareStores(const CommitInfo& left, const CommitInfo& right) {
  std::map<std::string, StoreDifference> stores;
  for (const StoreInfo& store : left.stores) stores[store.name].left = store.hash;
  for (const StoreInfo& store : right.stores) stores[store.name].right = store.hash;
  std::vector<StoreDifference> result;
  for (auto& [name, store] : stores) {
    store.name = name;
    result.push_back(std::move(store));
  }
  return result;
}

absl::Status DiffStore(MultistoreView* left, MultistoreView* right, std::string_view store,
                       const std::function<bool(const KeyDifference&)>& visit) {
  const StoreInfo* const in_left = left->commit_info().Find(store);
  const StoreInfo* const in_right = right->commit_info().Find(store);
  if (in_left != nullptr && in_right != nullptr && in_left->hash == in_right->hash)
    return absl::OkStatus();

  absl::StatusOr<Side> a = Side::Open(left, store);
  if (!a.ok()) return a.status();
  absl::StatusOr<Side> b = Side::Open(right, store);
  if (!b.ok()) return b.status();
  while (a->Valid() || b->Valid()) {
    const bool take_a = a->Valid() && (!b->Valid() || a->key() <= b->key());
    const bool take_b = b->Valid() && (!a->Valid() || b->key() <= a->key());
    KeyDifference difference;
    if (take_a) {
      difference.key = a->key();
      difference.left = a->value();
    }
    if (take_b) {
      difference.key = b->key();
      difference.right = b->value();
    }
    if (difference.left != difference.right && !visit(difference)) return absl::OkStatus();
    if (take_a) a->Next();
    if (take_b) b->Next();
  }
  absl::Status status = a->status();
  status.Update(b->status());
  return status;
}

}  // namespace blockreplay::storage
