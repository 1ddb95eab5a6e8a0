#include "storage/multistore/snapshot.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "storage/iavl/importer.h"
#include "storage/multistore/commit_info.h"
#include "storage/multistore/multistore_impl.h"

namespace blockreplay::storage {

using snapshot::ChunkSource;
using snapshot::ItemReader;
using snapshot::SnapshotDir;
using snapshot::SnapshotDirWriter;
using snapshot::SnapshotItem;

namespace {

// The importers' records are written whenever that many bytes have come together.
constexpr size_t kBatchBytes = size_t{4} << 20;
constexpr uint64_t kItemsPerProgress = 16384;

}  // namespace

// Restores one snapshot. A friend of Multistore, which takes over the trees.
class MultistoreRestorer {
 public:
  MultistoreRestorer(Engine* engine, const SnapshotDir& dir, const RestoreOptions& options)
      : engine_(engine),
        dir_(dir),
        options_(options),
        height_(static_cast<int64_t>(dir.metadata().height())),
        source_(dir),
        reader_(&source_) {}

  absl::StatusOr<std::unique_ptr<Multistore>> Run() {
    absl::Status status = Prepare();
    if (status.ok()) status = ReadItems();
    if (!status.ok()) return status;
    return Finish();
  }

 private:
  absl::Status Error(const std::string& what) const {
    return absl::DataLossError(absl::StrCat("snapshot item ", reader_.items(), " (near ",
                                            source_.Position(), "): ", what));
  }

  absl::Status Prepare() {
    absl::StatusOr<int64_t> latest = ReadLatestVersion(*engine_);
    if (!latest.ok()) return latest.status();
    if (*latest != 0) {
      return absl::FailedPreconditionError(
          absl::StrCat("cannot restore a snapshot into a database that is at version ", *latest));
    }
    const KeyRange stores = KeyRange::Prefix("s/k:");
    const std::unique_ptr<Iterator> it = engine_->NewIterator(stores, Direction::kForward);
    if (!it->status().ok()) return it->status();
    if (!it->Valid()) return absl::OkStatus();
    WriteBatch wipe;
    wipe.DeleteRange(stores.start, *stores.end);
    return engine_->Write(wipe, options_.multistore.durability);
  }

  absl::Status ReadItems() {
    while (true) {
      absl::StatusOr<const SnapshotItem*> item = reader_.Next();
      if (!item.ok()) return item.status();
      if (*item == nullptr) break;
      absl::Status status = Take(**item);
      if (status.ok() && reader_.items() % kItemsPerProgress == 0) status = Progress();
      if (!status.ok()) return status;
    }
    absl::Status status = FinishStore();
    if (status.ok()) status = Progress();
    return status;
  }

  absl::Status Take(const SnapshotItem& item) {
    switch (item.item_case()) {
      case SnapshotItem::kStore:
        return StartStore(item.store().name());
      case SnapshotItem::kIavl:
        return AddNode(item);
      default:
        break;
    }
    if (item.has_extension_payload() && !in_extension_) return Error("payload of no extension");
    in_extension_ = true;
    absl::Status status = FinishStore();
    if (status.ok() && options_.extension) status = options_.extension(item);
    return status;
  }

  absl::Status StartStore(const std::string& name) {
    if (in_extension_) return Error(absl::StrCat("store ", name, " behind an extension"));
    absl::Status status = FinishStore();
    if (!status.ok()) return status;
    if (name.empty() || name.find('/') != std::string::npos || trees_.count(name) > 0) {
      return Error(
          absl::StrCat("store name \"", name, "\" is empty, contains a slash or is there twice"));
    }
    const MultistoreOptions& multistore = options_.multistore;
    if (!multistore.stores.empty() &&
        std::none_of(multistore.stores.begin(), multistore.stores.end(),
                     [&](const StoreSpec& spec) { return spec.name == name; })) {
      return absl::FailedPreconditionError(absl::StrCat(
          "the snapshot has a store ", name, " that is not among the stores to be opened"));
    }
    const iavl::TreeOptions tree{
        .persist = multistore.persistence == Persistence::kEvery ? iavl::Persist::kEvery
                                                                 : iavl::Persist::kDeferred,
        .fast_nodes = multistore.persistence == Persistence::kEvery && multistore.fast_nodes,
        .retained_versions = std::max<int64_t>(1, multistore.keep_recent),
        .copy_on_write = multistore.copy_on_write};
    const iavl::ImportOptions import{
        .write_records = true,
        .memory_limit = multistore.cache_bytes - std::min(multistore.cache_bytes, tree_bytes_)};
    store_ = name;
    importer_ = std::make_unique<iavl::Importer>(StorePrefix(name), tree, height_, import);
    return absl::OkStatus();
  }

  absl::Status AddNode(const SnapshotItem& item) {
    if (importer_ == nullptr) return Error("a node of no store");
    const auto& iavl = item.iavl();
    if (iavl.height() < 0 || iavl.height() > INT8_MAX) {
      return Error(absl::StrCat("store ", store_, ": a node of height ", iavl.height()));
    }
    iavl::ExportNode node{.key = iavl.key(),
                          .value = std::nullopt,
                          .version = iavl.version(),
                          .height = iavl.height()};
    // An empty value is left out of the message.
    if (node.height == 0) node.value = std::string_view(iavl.value());
    absl::Status status = importer_->Add(node, &batch_);
    if (!status.ok()) return Error(absl::StrCat("store ", store_, ": ", status.message()));
    return batch_.byte_size() < kBatchBytes ? absl::OkStatus() : WriteOut();
  }

  absl::Status FinishStore() {
    if (importer_ == nullptr) return absl::OkStatus();
    absl::StatusOr<std::unique_ptr<iavl::Tree>> tree = importer_->Finish(engine_, &batch_);
    if (!tree.ok()) return Error(absl::StrCat("store ", store_, ": ", tree.status().message()));
    absl::Status status = WriteOut();
    if (!status.ok()) return status;
    importer_.reset();
    tree_bytes_ += (*tree)->memory_bytes();
    trees_.emplace(store_, *std::move(tree));
    return absl::OkStatus();
  }

  absl::Status WriteOut() {
    if (batch_.empty()) return absl::OkStatus();
    absl::Status status = engine_->Write(batch_, options_.multistore.durability);
    batch_.Clear();
    return status;
  }

  absl::Status Progress() const {
    if (!options_.progress) return absl::OkStatus();
    return options_.progress({.bytes = source_.bytes_read(),
                              .total_bytes = dir_.total_bytes(),
                              .items = reader_.items()});
  }

  absl::StatusOr<std::unique_ptr<Multistore>> Finish() {
    for (const StoreSpec& spec : options_.multistore.stores) {
      if (trees_.count(spec.name) == 0) {
        return absl::FailedPreconditionError(absl::StrCat("the snapshot has no store ", spec.name));
      }
    }
    CommitInfo info{.version = height_, .stores = {}, .time = {}};
    for (const auto& [name, tree] : trees_) {
      info.stores.push_back({.name = name, .version = height_, .hash = tree->hash()});
    }
    const Hash app_hash = AppHash(info);
    if (options_.expected_app_hash && app_hash != *options_.expected_app_hash) {
      return absl::DataLossError(absl::StrCat("the snapshot of height ", height_,
                                              " has the app hash ", ToHex(app_hash), " instead of ",
                                              ToHex(*options_.expected_app_hash)));
    }
    WriteBatch batch;
    batch.Put(CommitInfoKey(height_), EncodeCommitInfo(info));
    batch.Put(kLatestKey, EncodeLatestVersion(height_));
    absl::Status status = engine_->Write(batch, options_.multistore.durability);
    if (!status.ok()) return status;
    MultistoreOptions multistore = options_.multistore;
    multistore.upgrades = {};
    auto impl = std::make_unique<Multistore::Impl>(engine_, engine_, multistore);
    impl->Adopt(info, std::move(trees_));
    return std::unique_ptr<Multistore>(new Multistore(std::move(impl)));
  }

  Engine* const engine_;
  const SnapshotDir& dir_;
  const RestoreOptions& options_;
  const int64_t height_;
  ChunkSource source_;
  ItemReader reader_;
  std::map<std::string, std::unique_ptr<CommitTree>> trees_;
  std::string store_;
  std::unique_ptr<iavl::Importer> importer_;  // of store_, between its item and the next store's
  bool in_extension_ = false;
  WriteBatch batch_;
  size_t tree_bytes_ = 0;
};

absl::StatusOr<std::unique_ptr<Multistore>> RestoreSnapshot(Engine* engine, const SnapshotDir& dir,
                                                            const RestoreOptions& options) {
  return MultistoreRestorer(engine, dir, options).Run();
}

absl::StatusOr<snapshot::Snapshot> CreateSnapshot(MultistoreView* view, const std::string& path,
                                                  const SnapshotProgressCallback& progress,
                                                  int compression_level) {
  absl::StatusOr<std::unique_ptr<SnapshotDirWriter>> writer =
      SnapshotDirWriter::Create(path, static_cast<uint64_t>(view->version()), compression_level);
  if (!writer.ok()) return writer.status();
  SnapshotProgress done;
  const auto add = [&](const SnapshotItem& item) {
    absl::Status status = (*writer)->Add(item);
    if (status.ok() && ++done.items % kItemsPerProgress == 0 && progress) status = progress(done);
    return status;
  };
  SnapshotItem node;
  for (const StoreInfo& store : view->commit_info().stores) {
    absl::StatusOr<const iavl::View*> tree = view->store(store.name);
    if (!tree.ok()) return tree.status();
    SnapshotItem header;
    header.mutable_store()->set_name(store.name);
    absl::Status status = add(header);
    if (status.ok()) {
      status = (*tree)->Export([&](const iavl::ExportNode& exported) {
        auto* const iavl = node.mutable_iavl();
        iavl->set_key(exported.key.data(), exported.key.size());
        const std::string_view value = exported.value.value_or(std::string_view());
        iavl->set_value(value.data(), value.size());
        iavl->set_version(exported.version);
        iavl->set_height(exported.height);
        return add(node);
      });
    }
    if (!status.ok()) return status;
  }
  absl::StatusOr<snapshot::Snapshot> metadata = (*writer)->Finish();
  if (metadata.ok() && progress) {
    absl::Status status = progress(done);
    if (!status.ok()) return status;
  }
  return metadata;
}

}  // namespace blockreplay::storage
