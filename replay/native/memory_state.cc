#include "replay/native/memory_state.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "storage/snapshot/item_reader.h"
#include "storage/snapshot/snapshot_dir.h"

namespace blockreplay::replay {
namespace {

using Map = std::map<std::string, std::string, std::less<>>;

class MapIterator : public storage::Iterator {
 public:
  MapIterator(const Map* map, const storage::KeyRange& range, storage::Direction direction)
      : forward_(direction == storage::Direction::kForward),
        begin_(map->lower_bound(range.start)),
        end_(range.end ? map->lower_bound(*range.end) : map->end()),
        valid_(!(range.end && *range.end < range.start) && begin_ != end_) {
    if (valid_) at_ = forward_ ? begin_ : std::prev(end_);
  }
  bool Valid() const override { return valid_; }
  void Next() override {
    if (forward_) {
      ++at_;
      valid_ = at_ != end_;
    } else {
      valid_ = at_ != begin_;
      if (valid_) --at_;
    }
  }
  std::string_view key() const override { return at_->first; }
  std::string_view value() const override { return at_->second; }
  absl::Status status() const override { return absl::OkStatus(); }

 private:
  bool forward_;
  Map::const_iterator begin_;
  Map::const_iterator end_;
  bool valid_;
  Map::const_iterator at_;
};

}  // namespace

class MemoryState::Store : public keeper::sdk::BaseStore {
 public:
  Map& map() { return map_; }
  std::optional<std::string_view> Get(std::string_view key) override {
    const auto found = map_.find(key);
    if (found == map_.end()) return std::nullopt;
    return found->second;
  }
  std::unique_ptr<storage::Iterator> NewIterator(const storage::KeyRange& range,
                                                 storage::Direction direction) override {
    return std::make_unique<MapIterator>(&map_, range, direction);
  }

 private:
  Map map_;
};

absl::StatusOr<std::unique_ptr<MemoryState>> MemoryState::Load(
    const std::string& recording_dir, const Manifest& manifest,
    const std::vector<std::string>& store_names) {
  std::unique_ptr<MemoryState> state(new MemoryState(store_names));
  absl::Status status =
      ForEachLeaf(recording_dir, manifest,
                  [&](const std::string& name, const std::string& key, const std::string& value) {
                    absl::StatusOr<Store*> store = state->Find(name);
                    if (store.ok()) (*store)->map()[key] = value;
                    return store.status();
                  });
  if (!status.ok()) return status;
  return state;
}

MemoryState::MemoryState(const std::vector<std::string>& store_names) : names_(store_names) {
  for (size_t i = 0; i < names_.size(); ++i) {
    stores_.push_back(std::make_unique<Store>());
    bases_.push_back(stores_.back().get());
  }
}

MemoryState::~MemoryState() = default;

std::vector<int64_t> MemoryState::KeyCounts() const {
  std::vector<int64_t> counts;
  for (const auto& store : stores_) counts.push_back(static_cast<int64_t>(store->map().size()));
  return counts;
}

absl::Status MemoryState::Apply(const v1::Block& block) {
  for (const auto& pair : block.change_set()) {
    absl::StatusOr<Store*> store = Find(pair.store_key());
    if (!store.ok()) return store.status();
    if (pair.delete_()) {
      (*store)->map().erase(pair.key());
    } else {
      (*store)->map()[pair.key()] = pair.value();
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<MemoryState::Store*> MemoryState::Find(const std::string& name) {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) {
    return absl::InvalidArgumentError(absl::StrCat("the chain has no store ", name));
  }
  return stores_[static_cast<size_t>(found - names_.begin())].get();
}

absl::Status ForEachLeaf(
    const std::string& recording_dir, const Manifest& manifest,
    const std::function<absl::Status(const std::string& store, const std::string& key,
                                     const std::string& value)>& visit) {
  if (!manifest.base) return absl::OkStatus();
  if (manifest.partial_base) {
    return absl::UnimplementedError(absl::StrCat(
        recording_dir, ": its base is a partial state, and this reads whole snapshots only"));
  }
  absl::StatusOr<storage::snapshot::SnapshotDir> dir =
      storage::snapshot::SnapshotDir::Open(recording_dir + "/snapshot");
  if (!dir.ok()) return dir.status();
  storage::snapshot::ChunkSource source(*std::move(dir));
  storage::snapshot::ItemReader reader(&source);
  std::string store;
  while (true) {
    absl::StatusOr<const storage::snapshot::SnapshotItem*> item = reader.Next();
    if (!item.ok()) return item.status();
    if (*item == nullptr) return absl::OkStatus();
    if ((*item)->has_store()) {
      store = (*item)->store().name();
    } else if ((*item)->has_iavl() && (*item)->iavl().height() == 0) {
      if (absl::Status status = visit(store, (*item)->iavl().key(), (*item)->iavl().value());
          !status.ok()) {
        return status;
      }
    }
  }
}

}  // namespace blockreplay::replay
