// keeper_verify RECORDING…: runs the native code of every phase of a recording on the true state
// and prints what differs, for the people who write that code. The state is in memory and has no
// tree; blocks are not verified.

#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "keeper/chain.h"
#include "keeper/sdk/store.h"
#include "keeper/thorchain/codec_table.h"
#include "keeper/verify/phase_verifier.h"
#include "replay/recording/manifest.h"
#include "replay/recording/recording_reader.h"
#include "storage/snapshot/item_reader.h"
#include "storage/snapshot/snapshot_dir.h"

namespace blockreplay {
namespace {

using Map = std::map<std::string, std::string, std::less<>>;

class MapIterator : public storage::Iterator {
 public:
  MapIterator(const Map* map, const storage::KeyRange& range, storage::Direction direction)
      : forward_(direction == storage::Direction::kForward),
        begin_(map->lower_bound(range.start)),
        end_(range.end ? map->lower_bound(*range.end) : map->end()) {
    valid_ = range.end && *range.end < range.start ? false : begin_ != end_;
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
  bool valid_;
  Map::const_iterator begin_;
  Map::const_iterator end_;
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

struct Options {
  std::vector<std::string> recordings;
  int64_t from = 0;
  int64_t to = INT64_MAX;
  bool codec = false;
  keeper::PhaseVerifier::Options verifier;
};

absl::Status LoadSnapshot(const std::string& path, const std::vector<std::string>& names,
                          std::vector<MapStore>* stores, keeper::thorchain::CodecTable* table) {
  absl::StatusOr<storage::snapshot::SnapshotDir> dir = storage::snapshot::SnapshotDir::Open(path);
  if (!dir.ok()) return dir.status();
  storage::snapshot::ChunkSource source(*std::move(dir));
  storage::snapshot::ItemReader reader(&source);
  Map* map = nullptr;
  std::string store;
  while (true) {
    absl::StatusOr<const storage::snapshot::SnapshotItem*> item = reader.Next();
    if (!item.ok()) return item.status();
    if (*item == nullptr) return absl::OkStatus();
    if ((*item)->has_store()) {
      store = (*item)->store().name();
      const auto name = std::find(names.begin(), names.end(), store);
      if (name == names.end()) return absl::InvalidArgumentError("unknown store " + store);
      map = &(*stores)[static_cast<size_t>(name - names.begin())].map();
    } else if ((*item)->has_iavl() && (*item)->iavl().height() == 0 && map != nullptr) {
      const auto& leaf = (*item)->iavl();
      if (table != nullptr) table->Add(store, leaf.key(), leaf.value());
      (*map)[leaf.key()] = leaf.value();
    }
  }
}

std::string Text(const replay::Manifest& manifest, const char* section, const char* field) {
  const auto found = manifest.document.find(section);
  if (found == manifest.document.end() || !found->is_object()) return {};
  return found->value(field, std::string());
}

absl::Status Run(const std::string& recording, const Options& options,
                 keeper::thorchain::CodecTable* table) {
  absl::StatusOr<replay::Manifest> manifest = replay::LoadManifest(recording);
  if (!manifest.ok()) return manifest.status();
  keeper::ChainSpec spec;
  spec.application = manifest->application_name;
  spec.version = manifest->application_version;
  spec.chain_id = manifest->chain_id;
  spec.build_tags = Text(*manifest, "application", "build_tags");
  spec.constants_version = Text(*manifest, "application", "constants_version");
  spec.suite = Text(*manifest, "notes", "suite");
  absl::StatusOr<std::unique_ptr<keeper::Chain>> chain = keeper::NewChain(spec);
  if (!chain.ok()) return chain.status();

  std::vector<MapStore> stores((*chain)->store_names().size());
  if (manifest->base) {
    if (absl::Status status =
            LoadSnapshot(recording + "/snapshot", (*chain)->store_names(), &stores, table);
        !status.ok()) {
      return status;
    }
  }
  std::vector<keeper::sdk::BaseStore*> bases;
  for (MapStore& store : stores) bases.push_back(&store);

  keeper::PhaseVerifier verifier(chain->get(), options.verifier);
  replay::BlockReader blocks(recording, *manifest);
  replay::PhasesReader phase_reader(recording, *manifest);
  v1::Block block;
  v1::BlockPhases phases;
  bool has_phases = !manifest->StreamFiles("phases").empty();
  if (has_phases) {
    absl::StatusOr<bool> next = phase_reader.Next(&phases);
    if (!next.ok()) return next.status();
    has_phases = *next;
  }
  while (true) {
    absl::StatusOr<bool> more = blocks.Next(&block);
    if (!more.ok()) return more.status();
    if (!*more || block.height() > options.to) break;
    const bool mine = has_phases && phases.height() == block.height();
    if (table != nullptr) {
      for (const auto& pair : block.change_set()) {
        if (!pair.delete_()) table->Add(pair.store_key(), pair.key(), pair.value());
      }
    }
    if (block.height() >= options.from && !options.codec) {
      keeper::sdk::MultiStore state(bases);
      if (absl::Status status = verifier.VerifyBlock(block, mine ? &phases : nullptr, &state);
          !status.ok()) {
        return status;
      }
    }
    for (const auto& pair : block.change_set()) {
      const auto& names = (*chain)->store_names();
      const auto name = std::find(names.begin(), names.end(), pair.store_key());
      if (name == names.end()) return absl::InvalidArgumentError("store " + pair.store_key());
      Map& map = stores[static_cast<size_t>(name - names.begin())].map();
      if (pair.delete_()) {
        map.erase(pair.key());
      } else {
        map[pair.key()] = pair.value();
      }
    }
    if (mine) {
      absl::StatusOr<bool> next = phase_reader.Next(&phases);
      if (!next.ok()) return next.status();
      has_phases = *next;
    }
  }
  if (!options.codec) {
    std::printf("== %s\n%s", recording.c_str(), verifier.coverage().ToString().c_str());
  }
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  CLI::App app("Compares native execution with recordings, phase by phase");
  Options options;
  app.add_option("recording", options.recordings, "Recordings")->required();
  app.add_option("--from", options.from, "First height to execute");
  app.add_option("--to", options.to, "Last height");
  app.add_option("--kind", options.verifier.only_kinds,
                 "Only kinds of phases that contain this text (repeatable)");
  app.add_option("--differences", options.verifier.keep_differences,
                 "Differences to print for each kind");
  app.add_flag("--codec", options.codec,
               "Instead: decode and encode every stored value, and count by type");
  CLI11_PARSE(app, argc, argv);
  keeper::thorchain::CodecTable table;
  for (const std::string& recording : options.recordings) {
    if (absl::Status status = Run(recording, options, options.codec ? &table : nullptr);
        !status.ok()) {
      std::fprintf(stderr, "keeper_verify: %s: %s\n", recording.c_str(),
                   std::string(status.message()).c_str());
      return 1;
    }
  }
  if (options.codec) std::printf("%s", table.ToString().c_str());
  return 0;
}

}  // namespace
}  // namespace blockreplay

int main(int argc, char** argv) { return blockreplay::Main(argc, argv); }
