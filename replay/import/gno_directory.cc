#include "replay/import/gno_directory.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "replay/import/genesis.h"
#include "replay/import/tm2_stores.h"
#include "replay/verify/block_verifier.h"
#include "storage/bptree/changes.h"
#include "storage/bptree/commit_info.h"
#include "storage/bptree/record_reader.h"
#include "storage/kv/read_only.h"
#include "storage/multistore/commit_info.h"
#include "storage/multistore/partial_state.h"

namespace blockreplay::replay {
namespace {

namespace fs = std::filesystem;

using storage::CommitInfo;

constexpr char kMainStore[] = "main";
// What genesis writes to the tree before everything else (fixtures/gno/SPEC.md, section 1.4).
constexpr char kFirstKey[] = "consensus_params";

bool Exists(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

std::string Hex(const std::string& raw) { return absl::BytesToHexString(raw); }

// The three databases of a node.
class GnoDatabases {
 public:
  static absl::StatusOr<std::shared_ptr<GnoDatabases>> Open(const std::string& folder,
                                                            const DataDirectoryOptions& options);

  const std::string& folder() const { return folder_; }
  const Tm2BlockStore& blocks() const { return *blocks_; }
  const Tm2StateStore& states() const { return *states_; }
  const storage::Reader& application() const { return *application_; }
  int64_t last_version() const { return last_version_; }

  absl::StatusOr<CommitInfo> ReadCommitInfo(int64_t version) const;
  // First version whose tree is there; nothing if not even the last one's is. Versions are taken to
  // be contiguous, as pruning leaves them.
  absl::StatusOr<std::optional<int64_t>> FirstVersion() const;

  absl::Status Located(const absl::Status& status) const {
    return absl::Status(status.code(), absl::StrCat(folder_, "/gnolang.db: ", status.message()));
  }

 private:
  absl::StatusOr<storage::bptree::RootRecord> ReadRoot(int64_t version) const {
    return storage::bptree::RecordReader(*application_, storage::bptree::kSharedPrefix)
        .ReadRoot(version);
  }
  absl::StatusOr<bool> HasTree(int64_t version) const;

  std::string folder_;
  std::unique_ptr<storage::Reader> blockstore_;
  std::unique_ptr<storage::Reader> state_;
  std::unique_ptr<storage::Reader> application_;
  std::optional<Tm2BlockStore> blocks_;
  std::optional<Tm2StateStore> states_;
  int64_t last_version_ = 0;
};

absl::StatusOr<std::shared_ptr<GnoDatabases>> GnoDatabases::Open(
    const std::string& folder, const DataDirectoryOptions& options) {
  auto databases = std::make_shared<GnoDatabases>();
  databases->folder_ = folder;
  const size_t cache_bytes = static_cast<size_t>(options.cache_mb) << 20;
  const auto open = [&](const char* name, size_t cache) {
    storage::ReadOnlyOptions read_only;
    read_only.allow_in_use = options.allow_in_use;
    read_only.block_cache_bytes = cache;
    // The tree's records have checksums of their own.
    read_only.verify_checksums = true;
    return storage::OpenReadOnly(absl::StrCat(folder, "/", name), read_only);
  };
  absl::StatusOr<std::unique_ptr<storage::Reader>> application =
      open("gnolang.db", cache_bytes * 3 / 4);
  if (!application.ok()) return application.status();
  databases->application_ = *std::move(application);
  absl::StatusOr<std::unique_ptr<storage::Reader>> blockstore =
      open("blockstore.db", cache_bytes / 8);
  if (!blockstore.ok()) return blockstore.status();
  databases->blockstore_ = *std::move(blockstore);
  absl::StatusOr<std::unique_ptr<storage::Reader>> state = open("state.db", cache_bytes / 8);
  if (!state.ok()) return state.status();
  databases->state_ = *std::move(state);

  absl::StatusOr<Tm2BlockStore> blocks =
      Tm2BlockStore::Open(databases->blockstore_.get(), folder + "/blockstore.db");
  if (!blocks.ok()) return blocks.status();
  databases->blocks_ = *std::move(blocks);
  absl::StatusOr<Tm2StateStore> states =
      Tm2StateStore::Open(databases->state_.get(), folder + "/state.db");
  if (!states.ok()) return states.status();
  databases->states_ = *std::move(states);
  const absl::StatusOr<int64_t> last = storage::ReadLatestVersion(*databases->application_);
  if (!last.ok()) return databases->Located(last.status());
  databases->last_version_ = *last;
  return databases;
}

absl::StatusOr<CommitInfo> GnoDatabases::ReadCommitInfo(int64_t version) const {
  absl::StatusOr<CommitInfo> info = storage::ReadCommitInfo(*application_, version);
  if (!info.ok()) return Located(info.status());
  const storage::StoreInfo* const main = info->Find(kMainStore);
  if (info->format != storage::CommitFormat::kTm2 || main == nullptr || info->stores.size() != 2 ||
      info->Find("base") == nullptr) {
    return Located(absl::UnimplementedError(
        absl::StrCat("version ", version,
                     " has not the stores base and main of gno.land, which "
                     "are all that is known")));
  }
  const absl::StatusOr<storage::bptree::RootRecord> root = ReadRoot(version);
  if (!root.ok()) return Located(root.status());
  if (root->hash != main->hash) {
    return Located(absl::DataLossError(
        absl::StrCat("version ", version, ": the tree's root is ", storage::ToHex(root->hash),
                     ", the commit info's ", storage::ToHex(main->hash))));
  }
  return info;
}

absl::StatusOr<bool> GnoDatabases::HasTree(int64_t version) const {
  const absl::Status status = ReadRoot(version).status();
  if (absl::IsNotFound(status)) return false;
  if (!status.ok()) return Located(status);
  return true;
}

absl::StatusOr<std::optional<int64_t>> GnoDatabases::FirstVersion() const {
  absl::StatusOr<bool> has = last_version_ == 0 ? false : HasTree(last_version_);
  if (!has.ok()) return has.status();
  if (!*has) return std::nullopt;
  int64_t absent = 0;
  int64_t present = last_version_;
  while (present - absent > 1) {
    const int64_t middle = absent + (present - absent) / 2;
    has = HasTree(middle);
    if (!has.ok()) return has.status();
    (*has ? present : absent) = middle;
  }
  return present;
}

// The tree of a version of gnolang.db.
class GnoBase final : public BaseState {
 public:
  GnoBase(std::shared_ptr<const GnoDatabases> databases, const CommitInfo& info)
      : databases_(std::move(databases)),
        height_(info.version),
        app_hash_(storage::AppHash(info)) {}

  int64_t height() const override { return height_; }
  std::optional<storage::Hash> app_hash() const override { return app_hash_; }
  absl::Status Write(const std::string&, const storage::SnapshotProgressCallback&) const override {
    return absl::UnimplementedError("tm2 has no state-sync snapshots");
  }
  bool in_items() const override { return true; }
  absl::Status WriteItems(
      const std::function<absl::Status(const v1::PartialStateItem&)>& sink) const override {
    const absl::Status status = storage::WriteTm2State(&databases_->application(), height_, sink);
    return status.ok() || absl::IsCancelled(status) ? status : databases_->Located(status);
  }

 private:
  const std::shared_ptr<const GnoDatabases> databases_;
  const int64_t height_;
  const storage::Hash app_hash_;
};

class GnoFeed final : public BlockFeed {
 public:
  // `genesis` where the first block is the chain's.
  GnoFeed(std::shared_ptr<const GnoDatabases> databases, FeedSource source, HeightRange range,
          std::optional<Genesis> genesis)
      : databases_(std::move(databases)),
        source_(std::move(source)),
        range_(range),
        genesis_(std::move(genesis)),
        next_(range.first) {}

  FeedSource source() const override {
    FeedSource source = source_;
    source.checks = checks_;
    return source;
  }
  HeightRange range() const override { return range_; }

  absl::StatusOr<bool> Next(FedBlock* fed) override {
    if (next_ > range_.last) return false;
    v1::Block* const block = &fed->block;
    block->set_height(next_);
    const bool first = genesis_.has_value();
    if (first) {
      *block->mutable_init_chain() = std::move(genesis_->init_chain);
      genesis_.reset();
    }
    absl::StatusOr<CommitInfo> info = databases_->ReadCommitInfo(next_);
    if (!info.ok()) return info.status();
    const storage::Hash hash = storage::AppHash(*info);
    block->set_app_hash(std::string(hash.begin(), hash.end()));
    *block->mutable_commit_info() = RecordedCommitInfo(*info);
    if (absl::Status status = AddRequest(block); !status.ok()) return status;
    if (absl::Status status = AddResponse(block); !status.ok()) return status;
    if (absl::Status status = AddWrites(first, block); !status.ok()) return status;
    ++next_;
    return true;
  }

 private:
  absl::Status AddRequest(v1::Block* block) {
    absl::StatusOr<Tm2Block> loaded = databases_->blocks().LoadBlock(next_);
    if (!loaded.ok()) return loaded.status();
    const Tm2Header& header = loaded->header;
    const Tm2State& state = databases_->states().state();
    if (header.chain_id != state.chain_id) {
      return absl::InvalidArgumentError(
          absl::StrCat(databases_->folder(), ": the blocks are of chain ", header.chain_id,
                       ", state.db is of ", state.chain_id, ": they are of two nodes"));
    }
    if (!last_hash_.empty() && header.last_block_hash != last_hash_) {
      return absl::DataLossError(absl::StrCat(
          databases_->folder(), "/blockstore.db: block ", next_, " follows the block ",
          Hex(header.last_block_hash), ", but the one before has the hash ", Hex(last_hash_)));
    }
    last_hash_ = header.hash;
    ++checks_.header_hashes;
    if (!header.data_hash.empty()) ++checks_.data_hashes;

    tendermint::abci::RequestFinalizeBlock& request = *block->mutable_request();
    for (std::string& tx : loaded->txs) *request.add_txs() = std::move(tx);
    tendermint::abci::CommitInfo* const commit = request.mutable_decided_last_commit();
    if (next_ != state.initial_height) {
      const absl::StatusOr<std::vector<Tm2Validator>> validators =
          databases_->states().LoadValidators(next_ - 1);
      if (!validators.ok()) return validators.status();
      if (validators->size() != loaded->last_signed.size()) {
        return absl::DataLossError(
            absl::StrCat(databases_->folder(), ": block ", next_, ": its last commit has ",
                         loaded->last_signed.size(), " votes, but there were ", validators->size(),
                         " validators"));
      }
      commit->set_round(loaded->last_round);
      for (size_t i = 0; i < validators->size(); ++i) {
        tendermint::abci::VoteInfo* const vote = commit->add_votes();
        vote->mutable_validator()->set_address((*validators)[i].address);
        vote->mutable_validator()->set_power((*validators)[i].power);
        vote->set_block_id_flag(loaded->last_signed[i] ? tendermint::types::BLOCK_ID_FLAG_COMMIT
                                                       : tendermint::types::BLOCK_ID_FLAG_ABSENT);
      }
    }
    request.set_hash(header.hash);
    request.set_height(next_);
    *request.mutable_time() = header.time;
    request.set_next_validators_hash(header.next_validators_hash);
    request.set_proposer_address(header.proposer);
    return absl::OkStatus();
  }

  // What the header after a block says of it, or the node's state where that block is the last.
  struct Outcome {
    std::string where;
    bool in_header = false;
    std::string app_hash;
    std::string results_hash;
  };
  absl::StatusOr<std::optional<Outcome>> OutcomeOf(int64_t height) const {
    if (height < databases_->blocks().height()) {
      absl::StatusOr<Tm2Header> header = databases_->blocks().LoadHeader(height + 1);
      if (!header.ok()) return header.status();
      return Outcome{absl::StrCat("the header of block ", height + 1), /*in_header=*/true,
                     header->app_hash, header->results_hash};
    }
    const Tm2State& state = databases_->states().state();
    if (state.last_height != height) return std::nullopt;
    return Outcome{"state.db", /*in_header=*/false, state.app_hash, state.results_hash};
  }

  absl::Status AddResponse(v1::Block* block) {
    absl::StatusOr<std::optional<Tm2Responses>> responses =
        databases_->states().LoadResponses(next_);
    if (!responses.ok()) return responses.status();
    const absl::StatusOr<std::optional<Outcome>> outcome = OutcomeOf(next_);
    if (!outcome.ok()) return outcome.status();
    if (*responses) {
      const auto txs = block->request().txs_size();
      if ((*responses)->response.tx_results_size() != txs) {
        return absl::DataLossError(absl::StrCat(databases_->folder(), "/state.db: block ", next_,
                                                " has ", txs, " transactions, and results of ",
                                                (*responses)->response.tx_results_size()));
      }
      if (*outcome && (*responses)->results_hash != (*outcome)->results_hash) {
        return absl::DataLossError(
            absl::StrCat(databases_->folder(), "/state.db: the results of block ", next_,
                         " have the hash ", Hex((*responses)->results_hash), ", but ",
                         (*outcome)->where, " has ", Hex((*outcome)->results_hash)));
      }
      if (*outcome && (*outcome)->in_header) ++checks_.results_hashes;
      *block->mutable_response() = std::move((*responses)->response);
    }
    if (*outcome) {
      if ((*outcome)->app_hash != block->app_hash()) {
        return absl::DataLossError(absl::StrCat(
            databases_->folder(), ": block ", next_, ": gnolang.db has the app hash ",
            Hex(block->app_hash()), ", but ", (*outcome)->where, " has ", Hex((*outcome)->app_hash),
            ": the databases are not of one chain, or damaged"));
      }
      if ((*outcome)->in_header) ++checks_.header_app_hashes;
      // So that the recording has the consensus engine's word besides the application's.
      if (*responses) block->mutable_response()->set_app_hash((*outcome)->app_hash);
    }
    return absl::OkStatus();
  }

  absl::Status AddWrites(bool first, v1::Block* block) {
    const auto add = [&](std::string_view key, std::optional<std::string_view> value) {
      cosmos::store::v1beta1::StoreKVPair* const write = block->add_change_set();
      write->set_store_key(kMainStore);
      write->set_key(std::string(key));
      if (value) {
        write->set_value(std::string(*value));
      } else {
        write->set_delete_(true);
      }
      return absl::OkStatus();
    };
    const absl::Status status = storage::bptree::ForEachChange(
        databases_->application(), storage::bptree::kSharedPrefix, next_, first, add);
    if (!status.ok()) return databases_->Located(status);
    if (first) {
      auto& writes = *block->mutable_change_set();
      const auto direct = std::find_if(writes.begin(), writes.end(),
                                       [](const auto& write) { return write.key() == kFirstKey; });
      if (direct != writes.end()) std::rotate(writes.begin(), direct, direct + 1);
    }
    return absl::OkStatus();
  }

  const std::shared_ptr<const GnoDatabases> databases_;
  const FeedSource source_;
  const HeightRange range_;
  std::optional<Genesis> genesis_;
  int64_t next_;
  std::string last_hash_;
  FeedChecks checks_;
};

// The heights that can be imported; nothing if there are none. `*inventory` says what each database
// has.
absl::StatusOr<std::optional<HeightRange>> Importable(const GnoDatabases& databases,
                                                      std::string* inventory) {
  const absl::StatusOr<std::optional<int64_t>> first_version = databases.FirstVersion();
  if (!first_version.ok()) return first_version.status();
  const int64_t initial = databases.states().state().initial_height;
  *inventory = absl::StrCat(
      databases.folder(), ": blockstore.db has blocks ", initial, " to ",
      databases.blocks().height(), ", state.db is at ", databases.states().state().last_height,
      ", gnolang.db has ",
      *first_version ? absl::StrCat("versions ", **first_version, " to ", databases.last_version())
                     : "no version whose tree is there");
  if (!*first_version) return std::nullopt;
  HeightRange range;
  // A block needs the version before it, unless it is the chain's first.
  range.first = **first_version <= initial ? initial : **first_version + 1;
  range.last = std::min(databases.last_version(), databases.blocks().height());
  if (range.first > range.last) return std::nullopt;
  absl::StrAppend(inventory, "; ", range.first, " to ", range.last, " can be imported");
  return range;
}

absl::StatusOr<std::optional<Genesis>> FindGenesis(const DataDirectoryOptions& options,
                                                   const GnoDatabases& databases) {
  std::string path = options.genesis;
  if (path.empty()) {
    const fs::path home = fs::absolute(databases.folder()).parent_path();
    for (const fs::path& candidate : {fs::path(options.path) / "genesis.json",
                                      home / "genesis.json", home.parent_path() / "genesis.json"}) {
      if (path.empty() && Exists(candidate)) path = candidate.string();
    }
  }
  if (path.empty()) return std::nullopt;
  absl::StatusOr<Genesis> genesis = LoadTm2Genesis(path);
  if (!genesis.ok()) return genesis.status();
  const std::string& chain_id = databases.states().state().chain_id;
  if (genesis->init_chain.chain_id() != chain_id) {
    return absl::InvalidArgumentError(absl::StrCat(path, " is of chain ",
                                                   genesis->init_chain.chain_id(), ", ",
                                                   databases.folder(), " of ", chain_id));
  }
  return *std::move(genesis);
}

}  // namespace

std::optional<std::string> FindGnoFolder(const std::string& path) {
  for (const fs::path& folder : {fs::path(path) / "db", fs::path(path) / "data" / "db",
                                 fs::path(path) / "data", fs::path(path)}) {
    if (Exists(folder / "gnolang.db")) return folder.string();
  }
  return std::nullopt;
}

absl::StatusOr<ImportSource> OpenGnoDirectory(const std::string& folder,
                                              const DataDirectoryOptions& options) {
  absl::StatusOr<std::shared_ptr<GnoDatabases>> opened = GnoDatabases::Open(folder, options);
  if (!opened.ok()) return opened.status();
  const std::shared_ptr<GnoDatabases> databases = *std::move(opened);
  std::string inventory;
  const absl::StatusOr<std::optional<HeightRange>> importable = Importable(*databases, &inventory);
  if (!importable.ok()) return importable.status();
  if (!*importable) {
    return absl::NotFoundError(absl::StrCat(inventory, "; no height can be imported"));
  }
  const HeightRange range{options.range.from.value_or((*importable)->first),
                          options.range.to.value_or((*importable)->last)};
  if (range.first < (*importable)->first || range.last > (*importable)->last ||
      range.first > range.last) {
    return absl::FailedPreconditionError(absl::StrCat("--from ", range.first, " --to ", range.last,
                                                      " cannot be imported: ", inventory));
  }

  const Tm2State& state = databases->states().state();
  FeedSource source;
  source.kind = "data directory";
  source.chain_id = state.chain_id;
  source.application_name = "gnoland";
  source.node_version = absl::StrCat("tm2 ", state.software);
  source.ranges = {**importable};
  source.stores = {"base", kMainStore};
  source.details["base_store"] =
      "its writes are not in this recording: it keeps no versions, and only its name is in the app "
      "hash";
  absl::StatusOr<std::optional<Genesis>> genesis = FindGenesis(options, *databases);
  if (!genesis.ok()) return genesis.status();
  if (*genesis) source.genesis_sha256 = (*genesis)->sha256;
  ImportSource result;
  const bool from_genesis = range.first == state.initial_height;
  if (from_genesis && !*genesis) {
    return absl::NotFoundError(absl::StrCat(
        databases->folder(), " has no genesis.json beside it, which a range from height ",
        range.first, " needs: give --genesis FILE"));
  }
  if (!from_genesis) {
    absl::StatusOr<CommitInfo> info = databases->ReadCommitInfo(range.first - 1);
    if (!info.ok()) return info.status();
    result.base = std::make_unique<GnoBase>(databases, *info);
  }
  result.feed =
      std::make_unique<GnoFeed>(databases, std::move(source), range,
                                from_genesis ? *std::move(genesis) : std::optional<Genesis>());
  return result;
}

}  // namespace blockreplay::replay
