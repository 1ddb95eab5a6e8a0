#include "replay/import/data_directory.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/import/cometbft_block_store.h"
#include "replay/import/cometbft_state_store.h"
#include "replay/import/finalize_request.h"
#include "replay/import/genesis.h"
#include "replay/import/gno_directory.h"
#include "replay/inspect/change_set.h"
#include "replay/verify/block_verifier.h"
#include "storage/kv/read_only.h"
#include "storage/multistore/diff.h"
#include "storage/multistore/node_reader.h"
#include "storage/multistore/snapshot.h"
#include "storage/multistore/version_changes.h"
#include "storage/multistore/view.h"

namespace blockreplay::replay {
namespace {

namespace fs = std::filesystem;

using storage::CommitInfo;
using storage::MultistoreView;
using tendermint::types::ValidatorSet;

// Half of the work of a base would be compressing it as a node does.
constexpr int kBaseCompressionLevel = 1;

// Of a base on disk, compressed: a key has two nodes. THORChain's take 60 bytes, keys of 24 random
// bytes with values of 100 take 125.
constexpr uint64_t kLeastBytesPerKey = 16;
constexpr uint64_t kLikelyBytesPerKey = 128;

bool Exists(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// The three databases of a node.
class NodeDatabases {
 public:
  static absl::StatusOr<std::shared_ptr<NodeDatabases>> Open(const DataDirectoryOptions& options);

  const CometBftBlockStore& blocks() const { return *blocks_; }
  const CometBftStateStore& states() const { return *states_; }
  int64_t last_version() const { return last_version_; }
  // For walks over the trees; it must not outlive this.
  const storage::Reader* application() const { return application_.get(); }
  // The trees of a version, for the thread that has the reader.
  absl::StatusOr<std::unique_ptr<MultistoreView>> View(int64_t version,
                                                       const storage::Reader* reader) const {
    absl::StatusOr<std::unique_ptr<MultistoreView>> view = MultistoreView::Open(reader, version);
    return view.ok() ? std::move(view) : Located("application.db", view.status());
  }

  absl::StatusOr<CommitInfo> ReadCommitInfo(int64_t version) const {
    absl::StatusOr<CommitInfo> info = storage::ReadCommitInfo(*application_, version);
    return info.ok() ? std::move(info) : Located("application.db", info.status());
  }

  // First version whose trees are all there; nothing if not even the last one's are. Versions are
  // taken to be contiguous, as pruning leaves them.
  absl::StatusOr<std::optional<int64_t>> FirstVersion() const;

  absl::Status Located(const char* database, const absl::Status& status) const {
    return absl::Status(status.code(),
                        absl::StrCat(folder_, "/", database, ": ", status.message()));
  }
  const std::string& folder() const { return folder_; }
  // On disk, of blockstore.db and state.db.
  uint64_t block_bytes() const;

 private:
  absl::StatusOr<bool> HasTrees(int64_t version) const;

  std::string folder_;
  std::unique_ptr<storage::Reader> blockstore_;
  std::unique_ptr<storage::Reader> state_;
  std::unique_ptr<storage::Reader> application_;
  std::optional<CometBftBlockStore> blocks_;
  std::optional<CometBftStateStore> states_;
  int64_t last_version_ = 0;
};

absl::StatusOr<std::string> FindFolder(const std::string& path) {
  for (const fs::path& folder : {fs::path(path) / "data", fs::path(path)}) {
    if (Exists(folder / "blockstore.db")) return folder.string();
  }
  return absl::NotFoundError(
      absl::StrCat(path, Exists(path) ? " has no blockstore.db, neither there nor in data/"
                                      : " does not exist"));
}

absl::StatusOr<std::shared_ptr<NodeDatabases>> NodeDatabases::Open(
    const DataDirectoryOptions& options) {
  absl::StatusOr<std::string> folder = FindFolder(options.path);
  if (!folder.ok()) return folder.status();
  auto databases = std::make_shared<NodeDatabases>();
  databases->folder_ = *folder;
  // Trees are read here and there, the others once and in order.
  const size_t cache_bytes = static_cast<size_t>(options.cache_mb) << 20;
  const auto open = [&](const char* name, size_t cache, bool verify_checksums) {
    storage::ReadOnlyOptions read_only;
    read_only.allow_in_use = options.allow_in_use;
    read_only.block_cache_bytes = cache;
    read_only.verify_checksums = verify_checksums;
    return storage::OpenReadOnly(absl::StrCat(*folder, "/", name), read_only);
  };
  absl::StatusOr<std::unique_ptr<storage::Reader>> blockstore =
      open("blockstore.db", cache_bytes / 16, true);
  if (!blockstore.ok()) return blockstore.status();
  databases->blockstore_ = *std::move(blockstore);
  absl::StatusOr<std::unique_ptr<storage::Reader>> state = open("state.db", cache_bytes / 16, true);
  if (!state.ok()) return state.status();
  databases->state_ = *std::move(state);
  absl::StatusOr<std::unique_ptr<storage::Reader>> application =
      open("application.db", cache_bytes / 2, options.verify_checksums);
  if (!application.ok()) return application.status();
  databases->application_ = *std::move(application);

  absl::StatusOr<CometBftBlockStore> blocks = CometBftBlockStore::Open(
      databases->blockstore_.get(), absl::StrCat(*folder, "/blockstore.db"));
  if (!blocks.ok()) return blocks.status();
  databases->blocks_ = *std::move(blocks);
  absl::StatusOr<CometBftStateStore> states =
      CometBftStateStore::Open(databases->state_.get(), absl::StrCat(*folder, "/state.db"));
  if (!states.ok()) return states.status();
  databases->states_ = *std::move(states);
  absl::StatusOr<int64_t> last = storage::ReadLatestVersion(*databases->application_);
  if (!last.ok()) return databases->Located("application.db", last.status());
  databases->last_version_ = *last;
  return databases;
}

uint64_t NodeDatabases::block_bytes() const {
  uint64_t bytes = 0;
  for (const char* const name : {"blockstore.db", "state.db"}) {
    std::error_code error;
    for (fs::directory_iterator it(fs::path(folder_) / name, error), end; !error && it != end;
         it.increment(error)) {
      std::error_code gone;
      const uint64_t size = it->file_size(gone);
      if (!gone) bytes += size;
    }
  }
  return bytes;
}

absl::StatusOr<bool> NodeDatabases::HasTrees(int64_t version) const {
  absl::StatusOr<std::unique_ptr<MultistoreView>> view = View(version, application_.get());
  if (absl::IsNotFound(view.status())) return false;
  if (!view.ok()) return view.status();
  for (const storage::StoreInfo& info : (*view)->commit_info().stores) {
    const absl::Status status = (*view)->store(info.name).status();
    if (absl::IsNotFound(status)) return false;
    if (!status.ok()) return Located("application.db", status);
  }
  return true;
}

absl::StatusOr<std::optional<int64_t>> NodeDatabases::FirstVersion() const {
  absl::StatusOr<bool> has = last_version_ == 0 ? false : HasTrees(last_version_);
  if (!has.ok()) return has.status();
  if (!*has) return std::nullopt;
  int64_t absent = 0;
  int64_t present = last_version_;
  while (present - absent > 1) {
    const int64_t middle = absent + (present - absent) / 2;
    has = HasTrees(middle);
    if (!has.ok()) return has.status();
    (*has ? present : absent) = middle;
  }
  return present;
}

// The state of a version of application.db.
class VersionBase final : public BaseState {
 public:
  VersionBase(std::shared_ptr<const NodeDatabases> databases, const CommitInfo& info)
      : databases_(std::move(databases)),
        height_(info.version),
        app_hash_(storage::AppHash(info)) {}

  int64_t height() const override { return height_; }
  std::optional<storage::Hash> app_hash() const override { return app_hash_; }
  absl::StatusOr<DiskBytes> EstimateBytes() const override {
    absl::StatusOr<std::unique_ptr<MultistoreView>> view =
        databases_->View(height_, databases_->application());
    if (!view.ok()) return view.status();
    uint64_t keys = 0;
    for (const storage::StoreInfo& info : (*view)->commit_info().stores) {
      absl::StatusOr<const storage::iavl::View*> tree = (*view)->store(info.name);
      if (!tree.ok()) return databases_->Located("application.db", tree.status());
      keys += static_cast<uint64_t>((*tree)->size());
    }
    return DiskBytes{keys * kLeastBytesPerKey, keys * kLikelyBytesPerKey};
  }
  absl::Status Write(const std::string& path,
                     const storage::SnapshotProgressCallback& progress) const override {
    const storage::NodeReader reader(databases_->application());
    absl::StatusOr<std::unique_ptr<MultistoreView>> view = databases_->View(height_, &reader);
    if (!view.ok()) return view.status();
    return storage::CreateSnapshot(view->get(), path, progress, kBaseCompressionLevel).status();
  }

 private:
  const std::shared_ptr<const NodeDatabases> databases_;
  const int64_t height_;
  const storage::Hash app_hash_;
};

class DataDirectoryFeed final : public BlockFeed {
 public:
  // `genesis` where the first block is the chain's.
  DataDirectoryFeed(std::shared_ptr<const NodeDatabases> databases, FeedSource source,
                    HeightRange range, std::optional<Genesis> genesis, size_t cache_bytes)
      : databases_(std::move(databases)),
        source_(std::move(source)),
        range_(range),
        genesis_(std::move(genesis)),
        cache_bytes_(cache_bytes),
        next_(range.first) {}

  FeedSource source() const override { return source_; }
  HeightRange range() const override { return range_; }
  // What the node's stores have of a block, uncompressed: about what it and its writes take.
  uint64_t likely_bytes() const override {
    const HeightRange stored = databases_->blocks().range();
    const double share = static_cast<double>(range_.last - range_.first + 1) /
                         static_cast<double>(stored.last - stored.first + 1);
    return static_cast<uint64_t>(share * static_cast<double>(databases_->block_bytes()));
  }

  absl::StatusOr<bool> Next(FedBlock* fed) override {
    if (next_ > range_.last) return false;
    v1::Block* const block = &fed->block;
    block->set_height(next_);
    if (genesis_) {
      *block->mutable_init_chain() = std::move(genesis_->init_chain);
      genesis_.reset();
    }
    if (absl::Status status = AddBlock(block); !status.ok()) return status;
    absl::StatusOr<std::optional<tendermint::abci::ResponseFinalizeBlock>> response =
        databases_->states().LoadResponse(next_);
    if (!response.ok()) return response.status();
    if (*response) *block->mutable_response() = **std::move(response);
    if (absl::Status status = AddState(block); !status.ok()) return status;
    ++next_;
    return true;
  }

  absl::StatusOr<std::optional<tendermint::types::Header>> HeaderAfterLast() override {
    if (range_.last >= databases_->blocks().range().last) return std::nullopt;
    absl::StatusOr<tendermint::types::Header> header =
        databases_->blocks().LoadHeader(range_.last + 1);
    if (!header.ok()) return header.status();
    return *std::move(header);
  }

 private:
  absl::Status AddBlock(v1::Block* block) const {
    absl::StatusOr<CometBftBlockStore::StoredBlock> stored = databases_->blocks().LoadBlock(next_);
    if (!stored.ok()) return stored.status();
    std::optional<ValidatorSet> validators;
    if (next_ != databases_->states().initial_height()) {
      absl::StatusOr<ValidatorSet> loaded = databases_->states().LoadValidators(next_ - 1);
      if (!loaded.ok()) return loaded.status();
      validators = *std::move(loaded);
    }
    absl::StatusOr<tendermint::abci::RequestFinalizeBlock> request =
        BuildFinalizeRequest(stored->block, stored->hash, validators ? &*validators : nullptr);
    if (!request.ok()) return request.status();
    *block->mutable_request() = *std::move(request);
    *block->mutable_header() = std::move(*stored->block.mutable_header());
    return absl::OkStatus();
  }

  absl::Status AddState(v1::Block* block) {
    if (!changes_) {
      CommitInfo before;
      if (!block->has_init_chain()) {
        absl::StatusOr<CommitInfo> read = databases_->ReadCommitInfo(next_ - 1);
        if (!read.ok()) return read.status();
        before = *std::move(read);
      }
      changes_.emplace(databases_->application(), std::move(before), cache_bytes_);
    }
    absl::StatusOr<CommitInfo> info = databases_->ReadCommitInfo(next_);
    if (!info.ok()) return info.status();
    if (!block->has_init_chain()) {
      if (absl::Status status = SameStores(changes_->info(), *info); !status.ok()) return status;
    }
    *block->mutable_commit_info() = RecordedCommitInfo(*info);
    block->set_app_hash(storage::ToRaw(storage::AppHash(*info)));
    const absl::Status status = changes_->Advance(
        *std::move(info),
        [&](const std::string& store, std::string_view key, std::optional<std::string_view> value) {
          AddWrite(store, key, value, block);
          return absl::OkStatus();
        });
    return status.ok() ? status : databases_->Located("application.db", status);
  }

  static absl::Status SameStores(const CommitInfo& before, const CommitInfo& after) {
    std::vector<std::string> changed;
    for (const storage::StoreDifference& store : storage::CompareStores(before, after)) {
      if (!store.left) changed.push_back(absl::StrCat(store.name, " (added)"));
      if (!store.right) changed.push_back(absl::StrCat(store.name, " (removed)"));
    }
    if (changed.empty()) return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat("block ", after.version, " is an upgrade that changes the set of stores: ",
                     absl::StrJoin(changed, ", "), "; a recording has one set: import up to ",
                     after.version - 1, ", and from ", after.version + 1));
  }

  const std::shared_ptr<const NodeDatabases> databases_;
  const FeedSource source_;
  const HeightRange range_;
  std::optional<Genesis> genesis_;
  const size_t cache_bytes_;
  int64_t next_;
  std::optional<storage::VersionChanges> changes_;  // once there was a block
};

// The heights that can be imported; nothing if there are none. `*inventory` says what each database
// has.
absl::StatusOr<std::optional<HeightRange>> Importable(const NodeDatabases& databases,
                                                      std::string* inventory) {
  absl::StatusOr<std::optional<int64_t>> first_version = databases.FirstVersion();
  if (!first_version.ok()) return first_version.status();
  const HeightRange& blocks = databases.blocks().range();
  const int64_t initial = databases.states().initial_height();
  *inventory = absl::StrCat(
      databases.folder(), ": blockstore.db has blocks ", blocks.first, " to ", blocks.last,
      ", state.db is at ", databases.states().last_block_height(), ", application.db has ",
      *first_version ? absl::StrCat("versions ", **first_version, " to ", databases.last_version())
                     : "no version whose trees are all there");
  if (!*first_version) return std::nullopt;
  HeightRange range;
  // A block needs the version before it, unless it is the chain's first.
  range.first = std::max(**first_version == initial ? initial : **first_version + 1, blocks.first);
  range.last = std::min(databases.last_version(), blocks.last);
  // And the validators of the height before; where states were pruned, those of the first block
  // are gone.
  if (range.first != initial &&
      absl::IsNotFound(databases.states().LoadValidators(range.first - 1).status())) {
    ++range.first;
  }
  if (range.first > range.last) return std::nullopt;
  absl::StrAppend(inventory, "; ", range.first, " to ", range.last, " can be imported");
  return range;
}

absl::StatusOr<std::optional<Genesis>> FindGenesis(const DataDirectoryOptions& options,
                                                   const NodeDatabases& databases) {
  std::string path = options.genesis;
  if (path.empty()) {
    for (const fs::path& candidate :
         {fs::path(options.path) / "config" / "genesis.json",
          fs::path(databases.folder()).parent_path() / "config" / "genesis.json"}) {
      if (path.empty() && Exists(candidate)) path = candidate.string();
    }
  }
  if (path.empty()) {
    absl::StatusOr<std::optional<std::string>> kept = databases.states().LoadGenesis();
    if (!kept.ok()) return kept.status();
    if (!*kept) return std::nullopt;
    absl::StatusOr<Genesis> genesis =
        ParseGenesis(**kept, absl::StrCat(databases.folder(), "/state.db: genesisDoc"));
    if (!genesis.ok()) return genesis.status();
    return *std::move(genesis);
  }
  absl::StatusOr<Genesis> genesis = LoadGenesis(path);
  if (!genesis.ok()) return genesis.status();
  if (genesis->init_chain.chain_id() != databases.states().chain_id()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " is of chain ", genesis->init_chain.chain_id(), ", ",
                     databases.folder(), " of ", databases.states().chain_id()));
  }
  return *std::move(genesis);
}

}  // namespace

absl::StatusOr<ImportSource> OpenDataDirectory(const DataDirectoryOptions& options) {
  if (const std::optional<std::string> folder = FindGnoFolder(options.path)) {
    return OpenGnoDirectory(*folder, options);
  }
  absl::StatusOr<std::shared_ptr<NodeDatabases>> opened = NodeDatabases::Open(options);
  if (!opened.ok()) return opened.status();
  const std::shared_ptr<NodeDatabases> databases = *std::move(opened);
  std::string inventory;
  absl::StatusOr<std::optional<HeightRange>> importable = Importable(*databases, &inventory);
  if (!importable.ok()) return importable.status();
  if (!*importable)
    return absl::NotFoundError(absl::StrCat(inventory, "; no height can be imported"));
  const HeightRange range{options.range.from.value_or((*importable)->first),
                          options.range.to.value_or((*importable)->last)};
  if (range.first < (*importable)->first || range.last > (*importable)->last ||
      range.first > range.last) {
    return absl::FailedPreconditionError(absl::StrCat("--from ", range.first, " --to ", range.last,
                                                      " cannot be imported: ", inventory));
  }

  FeedSource source;
  source.kind = "data directory";
  source.chain_id = databases->states().chain_id();
  source.node_version = absl::StrCat("CometBFT ", databases->states().software());
  source.ranges = {**importable};
  absl::StatusOr<std::optional<Genesis>> genesis = FindGenesis(options, *databases);
  if (!genesis.ok()) return genesis.status();
  if (*genesis) {
    source.genesis_sha256 = (*genesis)->sha256;
    if (!(*genesis)->app_name.empty()) source.application_name = (*genesis)->app_name;
  }
  ImportSource result;
  const bool from_genesis = range.first == databases->states().initial_height();
  if (from_genesis) {
    if (!*genesis) {
      return absl::NotFoundError(
          absl::StrCat(databases->folder(), " has no genesis document, which a range from height ",
                       range.first, " needs: give --genesis FILE"));
    }
  } else {
    absl::StatusOr<CommitInfo> info = databases->ReadCommitInfo(range.first - 1);
    if (!info.ok()) return info.status();
    result.base = std::make_unique<VersionBase>(databases, *info);
  }
  result.feed = std::make_unique<DataDirectoryFeed>(
      databases, std::move(source), range,
      from_genesis ? *std::move(genesis) : std::optional<Genesis>(),
      (static_cast<size_t>(options.cache_mb) << 20) * 3 / 8);
  return result;
}

}  // namespace blockreplay::replay
