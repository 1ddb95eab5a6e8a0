#include "replay/native/memory_verify.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "keeper/chain.h"
#include "keeper/sdk/store.h"
#include "replay/native/chain_spec.h"
#include "replay/recording/manifest.h"
#include "replay/recording/recording_reader.h"
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

class MapStore : public keeper::sdk::BaseStore {
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

// `visit(store, key, value)` for each leaf.
template <typename Visitor>
absl::Status ForEachLeaf(const std::string& path, Visitor&& visit) {
  absl::StatusOr<storage::snapshot::SnapshotDir> dir = storage::snapshot::SnapshotDir::Open(path);
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

}  // namespace

absl::StatusOr<keeper::Coverage> MemoryVerify(const std::string& recording_dir,
                                              const MemoryVerifyOptions& options) {
  absl::StatusOr<Manifest> manifest = LoadManifest(recording_dir);
  if (!manifest.ok()) return manifest.status();
  absl::StatusOr<std::unique_ptr<keeper::Chain>> chain = keeper::NewChain(ChainSpecOf(*manifest));
  if (!chain.ok()) return chain.status();
  const std::vector<std::string>& names = (*chain)->store_names();

  std::vector<MapStore> stores(names.size());
  const auto find = [&](const std::string& name) -> absl::StatusOr<Map*> {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      return absl::InvalidArgumentError("the chain has no store " + name);
    }
    return &stores[static_cast<size_t>(found - names.begin())].map();
  };
  if (manifest->base) {
    absl::Status status = ForEachLeaf(
        recording_dir + "/snapshot",
        [&](const std::string& store, const std::string& key, const std::string& value) {
          absl::StatusOr<Map*> map = find(store);
          if (map.ok()) (**map)[key] = value;
          return map.status();
        });
    if (!status.ok()) return status;
  }
  std::vector<keeper::sdk::BaseStore*> bases;
  for (MapStore& store : stores) bases.push_back(&store);

  keeper::PhaseVerifier verifier(chain->get(), options.verifier);
  BlockReader blocks(recording_dir, *manifest);
  PhasesReader phase_reader(recording_dir, *manifest);
  v1::Block block;
  v1::BlockPhases phases;
  absl::StatusOr<bool> has_phases = phase_reader.Next(&phases);
  std::string app_hash = manifest->base ? manifest->base->app_hash : std::string();
  while (true) {
    if (!has_phases.ok()) return has_phases.status();
    absl::StatusOr<bool> more = blocks.Next(&block);
    if (!more.ok()) return more.status();
    if (!*more || block.height() > options.to) return verifier.coverage();
    const bool mine = *has_phases && phases.height() == block.height();
    if (block.height() >= options.from) {
      v1::BlockPhases* const of_block = mine ? &phases : nullptr;
      v1::Block compared = block;
      if (options.falsify) options.falsify(&compared, of_block);
      keeper::sdk::MultiStore state(bases);
      keeper::CommittedState committed{.app_hash = app_hash, .keys = {}};
      for (MapStore& store : stores) {
        committed.keys.push_back(static_cast<int64_t>(store.map().size()));
      }
      (*chain)->SetCommitted(std::move(committed));
      if (absl::Status status = verifier.VerifyBlock(compared, of_block, &state); !status.ok()) {
        return status;
      }
    }
    for (const auto& pair : block.change_set()) {
      absl::StatusOr<Map*> map = find(pair.store_key());
      if (!map.ok()) return map.status();
      if (pair.delete_()) {
        (*map)->erase(pair.key());
      } else {
        (**map)[pair.key()] = pair.value();
      }
    }
    app_hash = block.app_hash();
    if (mine) has_phases = phase_reader.Next(&phases);
  }
}

absl::Status AddRecordingTo(const std::string& recording_dir,
                            keeper::thorchain::CodecTable* table) {
  absl::StatusOr<Manifest> manifest = LoadManifest(recording_dir);
  if (!manifest.ok()) return manifest.status();
  if (manifest->base) {
    absl::Status status = ForEachLeaf(
        recording_dir + "/snapshot",
        [&](const std::string& store, const std::string& key, const std::string& value) {
          table->Add(store, key, value);
          return absl::OkStatus();
        });
    if (!status.ok()) return status;
  }
  BlockReader blocks(recording_dir, *manifest);
  v1::Block block;
  while (true) {
    absl::StatusOr<bool> more = blocks.Next(&block);
    if (!more.ok()) return more.status();
    if (!*more) return absl::OkStatus();
    for (const auto& pair : block.change_set()) {
      if (!pair.delete_()) table->Add(pair.store_key(), pair.key(), pair.value());
    }
  }
}

}  // namespace blockreplay::replay
