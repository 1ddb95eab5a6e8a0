#include "storage/multistore/multistore.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "profiling/labels.h"
#include "storage/bptree/tree_kinds.h"
#include "storage/iavl/tree.h"
#include "storage/multistore/committer.h"
#include "storage/multistore/multistore_impl.h"
#include "storage/multistore/view.h"
#include "storage/multistore/wal.h"
#include "storage/multistore/worker_pool.h"

namespace blockreplay::storage {
namespace {

// How many versions may wait for the background write: one that is written, one behind it.
constexpr size_t kMaxPendingWrites = 2;
constexpr char kHashRole[] = "hash";

// Of a store that only its commit info tells about.
const TreeKind* KindOf(const StoreInfo& store, CommitFormat format) {
  if (format == CommitFormat::kSdk) return IavlKind();
  return store.hash == Hash{} ? bptree::RawStoreKind() : bptree::TreeStoreKind();
}

absl::Status Annotate(const absl::Status& status, const std::string& where) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(where, ": ", status.message()));
}

}  // namespace

// A store of the multistore: its tree, and the log of what is written to it.
class Multistore::Impl::Slot final : public Store {
 public:
  Slot(StoreSpec store_spec, Impl* owner)
      : spec(std::move(store_spec)), label(profiling::InternLabel(spec.name)), owner_(owner) {}

  absl::StatusOr<bool> Get(std::string_view key, std::string* value) const override {
    absl::StatusOr<bool> found = tree->Get(key, value);
    return found.ok() ? found : Located("reading", key, found.status());
  }
  absl::StatusOr<bool> Has(std::string_view key) const override {
    absl::StatusOr<bool> found = tree->Has(key);
    return found.ok() ? found : Located("looking for", key, found.status());
  }
  std::unique_ptr<Iterator> NewIterator(const KeyRange& range, Direction direction) const override {
    return tree->NewIterator(range, direction);
  }
  absl::Status Set(std::string_view key, std::string_view value) override {
    if (key.empty()) return EmptyKey();
    Touch();
    if (owner_->logs_changes()) log.Set(key, value);
    return Located("setting", key, tree->Set(key, value));
  }
  absl::Status Delete(std::string_view key) override {
    if (key.empty()) return EmptyKey();
    Touch();
    if (owner_->logs_changes()) log.Delete(key);
    return Located("deleting", key, tree->Delete(key));
  }

  void Touch() {
    ++writes;
    owner_->prepared_.reset();
  }

  const StoreSpec spec;
  const profiling::LabelId label;
  std::unique_ptr<CommitTree> tree;
  ChangeLog log;
  uint64_t writes = 0;   // since the last version
  bool leaving = false;  // commits once more, without being in the commit info

  // Results of the work on the store in a job of the pool.
  WriteBatch batch;
  Hash hash{};
  absl::Status status;

 private:
  // Where a partial state has nothing, says which access it is that needs more.
  absl::Status Located(const char* access, std::string_view key, const absl::Status& error) const {
    if (!absl::IsOutOfRange(error)) return error;
    return absl::OutOfRangeError(absl::StrCat(
        access, " key 0x", absl::BytesToHexString(absl::string_view(key.data(), key.size())), ": ",
        error.message()));
  }

  absl::Status EmptyKey() const {
    return absl::InvalidArgumentError(absl::StrCat("store ", spec.name, ": empty key"));
  }

  Impl* const owner_;
};

Multistore::Impl::Impl(const Reader* db, Engine* engine, MultistoreOptions options)
    : db_(db), engine_(engine), options_(std::move(options)), pool_(options_.threads, kHashRole) {
  if (engine_ != nullptr) {
    committer_ = std::make_unique<Committer>(engine_, options_.durability, kMaxPendingWrites);
  }
}

Multistore::Impl::~Impl() = default;

bool Multistore::Impl::logs_changes() const {
  return options_.persistence == Persistence::kDeferred && engine_ != nullptr;
}

// ---- Opening
// -------------------------------------------------------------------------------------------------------

TreeKind::Settings Multistore::Impl::TreeSettings(int64_t initial_version) const {
  return {.persistence = options_.persistence,
          .fast_nodes = options_.fast_nodes,
          .initial_version = initial_version,
          .retained_versions = std::max<int64_t>(1, options_.keep_recent),
          .copy_on_write = options_.copy_on_write};
}

absl::StatusOr<std::vector<StoreSpec>> Multistore::Impl::ResolveStores(
    const CommitInfo& info) const {
  const StoreUpgrades& upgrades = options_.upgrades;
  std::vector<StoreSpec> specs = options_.stores;
  if (specs.empty()) {
    for (const StoreInfo& store : info.stores)
      specs.push_back({.name = store.name, .kind = KindOf(store, info.format)});
  }
  std::sort(specs.begin(), specs.end(),
            [](const StoreSpec& a, const StoreSpec& b) { return a.name < b.name; });
  std::set<std::string> arriving(upgrades.added.begin(), upgrades.added.end());
  std::set<std::string> renamed_away;
  for (const StoreUpgrades::Rename& rename : upgrades.renamed) {
    arriving.insert(rename.to);
    renamed_away.insert(rename.from);
  }
  std::set<std::string> names;
  for (const StoreSpec& spec : specs) {
    if (spec.name.empty() || spec.name.find('/') != std::string::npos ||
        !names.insert(spec.name).second) {
      return absl::InvalidArgumentError(absl::StrCat(
          "store name \"", spec.name, "\" is empty, contains a slash or is there twice"));
    }
    if (info.version == 0) continue;
    const StoreInfo* store = info.Find(spec.name);
    if (arriving.count(spec.name) > 0) {
      if (store != nullptr) {
        return absl::FailedPreconditionError(absl::StrCat(
            "store ", spec.name, " is to be added, but version ", info.version, " has it already"));
      }
      continue;
    }
    if (store == nullptr) {
      return absl::FailedPreconditionError(
          absl::StrCat("store ", spec.name, " is not in version ", info.version,
                       " of the database; a new store has to be named as an added one"));
    }
    if (store->version != info.version) {
      return absl::DataLossError(absl::StrCat("store ", spec.name, " is at version ",
                                              store->version, " in the commit info of version ",
                                              info.version));
    }
  }
  for (const StoreInfo& store : info.stores) {
    if (names.count(store.name) == 0 && renamed_away.count(store.name) == 0) {
      return absl::FailedPreconditionError(
          absl::StrCat("version ", info.version, " of the database has a store ", store.name,
                       " that is not among the stores to be opened; one that goes has to be named "
                       "as a deleted one"));
    }
  }
  for (const std::string& name : upgrades.deleted) {
    if (names.count(name) == 0 || arriving.count(name) > 0) {
      return absl::FailedPreconditionError(absl::StrCat(
          "store ", name, " is to be deleted, but is not among the stores of the database"));
    }
  }
  for (const std::string& name : arriving) {
    if (names.count(name) == 0) {
      return absl::FailedPreconditionError(absl::StrCat(
          "store ", name, " is to be added, but is not among the stores to be opened"));
    }
  }
  return specs;
}

absl::Status Multistore::Impl::LoadTree(Slot* slot, const CommitInfo& info, WriteBatch* batch) {
  const std::string& name = slot->spec.name;
  const StoreInfo* store = info.Find(name);
  absl::StatusOr<int64_t> latest = slot->spec.kind->LatestVersion(*db_, name);
  if (!latest.ok()) return latest.status();
  int64_t version = info.version;
  int64_t initial_version = options_.initial_version;
  bool delete_later = *latest > version;
  if (store == nullptr) {
    // Has no version yet. What is there is left from a first commit that did not come to its end.
    initial_version = std::max(initial_version, version + 1);
    if (*latest > 0 && !delete_later) {
      return absl::FailedPreconditionError(
          absl::StrCat("a store of this name was deleted before; its last version is ", *latest));
    }
    if (delete_later && engine_ != nullptr) {
      WriteBatch wipe;
      const KeyRange range = KeyRange::Prefix(StorePrefix(name));
      wipe.DeleteRange(range.start, *range.end);
      absl::Status status = engine_->Write(wipe, options_.durability);
      if (!status.ok()) return status;
    }
    version = 0;
    delete_later = false;
  }
  if (engine_ == nullptr) delete_later = false;
  absl::StatusOr<std::unique_ptr<CommitTree>> tree =
      slot->spec.kind->Load(db_, name, TreeSettings(initial_version), version, delete_later, batch);
  if (!tree.ok()) return tree.status();
  slot->tree = *std::move(tree);
  if (store == nullptr) return absl::OkStatus();
  if (slot->tree->version() != version || slot->tree->hash() != store->hash) {
    return absl::DataLossError(absl::StrCat(
        "the tree is at version ", slot->tree->version(), " with hash ", ToHex(slot->tree->hash()),
        ", the commit info says version ", version, ", hash ", ToHex(store->hash)));
  }
  return absl::OkStatus();
}

absl::Status Multistore::Impl::Load() {
  prepared_.reset();
  broken_ = absl::OkStatus();
  wal_versions_.clear();
  leaving_.clear();

  absl::StatusOr<int64_t> latest = ReadLatestVersion(*db_);
  if (!latest.ok()) return latest.status();
  last_ = CommitInfo{};
  last_.format = options_.format;
  if (*latest > 0) {
    absl::StatusOr<CommitInfo> info = ReadCommitInfo(*db_, *latest);
    if (!info.ok()) return info.status();
    last_ = *std::move(info);
  }
  last_hash_ = AppHash(last_);
  flushed_version_ = *latest;

  absl::Status status = *latest > 0 ? absl::OkStatus() : TakeStoresFromLog();
  if (!status.ok()) return status;
  absl::StatusOr<std::vector<StoreSpec>> specs = ResolveStores(last_);
  if (!specs.ok()) return specs.status();
  // Slots outlive a reload, because pointers to them were given out.
  std::map<std::string, std::unique_ptr<Slot>, std::less<>> slots;
  for (StoreSpec& spec : *specs) {
    const auto known = slots_.find(spec.name);
    std::string name = spec.name;
    slots.emplace(std::move(name), known != slots_.end()
                                       ? std::move(known->second)
                                       : std::make_unique<Slot>(std::move(spec), this));
  }
  slots_ = std::move(slots);
  ListSlots();
  for (Slot* slot : work_) {
    slot->tree.reset();
    slot->log.Clear();
    slot->writes = 0;
    slot->leaving = false;
  }

  status = ForEachSlot("open", [&](Slot* slot) { return LoadTree(slot, last_, &slot->batch); });
  if (!status.ok()) return status;
  WriteBatch batch;
  TakeBatches(&batch);
  if (engine_ != nullptr && !batch.empty()) {
    status = engine_->Write(batch, options_.durability);
    if (!status.ok()) return status;
  }
  status = ApplyUpgrades();
  if (!status.ok()) return status;
  return absl::OkStatus();
}

// Before the first flush no commit info is that of `s/latest`: those of the log tell which stores
// there are.
absl::Status Multistore::Impl::TakeStoresFromLog() {
  if (!options_.stores.empty()) return absl::OkStatus();
  absl::StatusOr<std::vector<int64_t>> versions = ListWal(*db_);
  if (!versions.ok()) return versions.status();
  if (versions->empty()) return absl::OkStatus();
  absl::StatusOr<CommitInfo> info = ReadCommitInfo(*db_, versions->front());
  if (!info.ok()) return info.status();
  for (const StoreInfo& store : info->stores)
    options_.stores.push_back({.name = store.name, .kind = KindOf(store, info->format)});
  options_.initial_version = versions->front();
  options_.format = info->format;
  last_.format = info->format;
  return absl::OkStatus();
}

// Names of the stores and order of the work after a change of slots_ or leaving_.
void Multistore::Impl::ListSlots() {
  names_.clear();
  work_.clear();
  for (const auto& [name, slot] : slots_) {
    if (!slot->leaving) names_.push_back(name);
    work_.push_back(slot.get());
  }
  for (const std::unique_ptr<Slot>& slot : leaving_) work_.push_back(slot.get());
  std::sort(work_.begin(), work_.end(),
            [](const Slot* a, const Slot* b) { return a->spec.name < b->spec.name; });
}

absl::Status Multistore::Impl::DeleteAll(Slot* slot) {
  std::vector<std::string> keys;
  const std::unique_ptr<Iterator> it = slot->NewIterator(KeyRange::All(), Direction::kForward);
  for (; it->Valid(); it->Next()) keys.emplace_back(it->key());
  if (!it->status().ok()) return it->status();
  for (const std::string& key : keys) {
    absl::Status status = slot->Delete(key);
    if (!status.ok()) return status;
  }
  slot->leaving = true;
  return absl::OkStatus();
}

absl::Status Multistore::Impl::ApplyUpgrades() {
  upgrading_ = !options_.upgrades.empty();
  for (const std::string& name : options_.upgrades.deleted) {
    absl::Status status = DeleteAll(slots_.find(name)->second.get());
    if (!status.ok()) return Annotate(status, absl::StrCat("deleting store ", name));
  }
  for (const StoreUpgrades::Rename& rename : options_.upgrades.renamed) {
    const std::string where = absl::StrCat("renaming store ", rename.from, " to ", rename.to);
    Slot* const to = slots_.find(rename.to)->second.get();
    auto from = std::make_unique<Slot>(StoreSpec{.name = rename.from, .kind = to->spec.kind}, this);
    if (last_.Find(rename.from) == nullptr) {
      return absl::FailedPreconditionError(
          absl::StrCat(where, ": version ", last_.version, " has no such store"));
    }
    WriteBatch batch;
    absl::Status status = LoadTree(from.get(), last_, &batch);
    if (status.ok() && engine_ != nullptr && !batch.empty()) {
      status = engine_->Write(batch, options_.durability);
    }
    if (!status.ok()) return Annotate(status, where);
    {
      const std::unique_ptr<Iterator> it = from->NewIterator(KeyRange::All(), Direction::kForward);
      for (; it->Valid() && status.ok(); it->Next()) status = to->Set(it->key(), it->value());
      status.Update(it->status());
    }
    if (status.ok()) status = DeleteAll(from.get());
    if (!status.ok()) return Annotate(status, where);
    leaving_.push_back(std::move(from));
  }
  if (upgrading_) ListSlots();
  return absl::OkStatus();
}

absl::Status Multistore::Impl::Replay(int64_t last_version) {
  absl::StatusOr<std::vector<int64_t>> versions = ListWal(*db_);
  if (!versions.ok()) return versions.status();
  if (IsObsoleteWal(*versions, last_.version)) {
    if (engine_ == nullptr) return absl::OkStatus();
    wal_versions_ = *std::move(versions);
    WriteBatch batch;
    DropWal(&batch);
    return engine_->Write(batch, options_.durability);
  }
  std::string bytes;
  for (const int64_t version : *versions) {
    if (version > last_version) break;
    if (version != FirstVersionAfter(last_.version)) {
      return absl::DataLossError(absl::StrCat("the write-ahead log goes on with version ", version,
                                              " after version ", last_.version));
    }
    absl::StatusOr<bool> found = db_->Get(WalKey(version), &bytes);
    if (!found.ok()) return found.status();
    absl::StatusOr<WalRecord> record = DecodeWalRecord(version, bytes);
    if (!record.ok()) return record.status();
    for (const WalStore& store : record->stores) {
      const auto slot = slots_.find(store.name);
      if (slot == slots_.end()) {
        return absl::DataLossError(absl::StrCat("the write-ahead record of version ", version,
                                                " is about an unknown store ",
                                                std::string(store.name)));
      }
      CommitTree* const tree = slot->second->tree.get();
      absl::Status status =
          ForEachChange(store.changes, [&](std::string_view key, const std::string_view* value) {
            return value != nullptr ? tree->Set(key, *value) : tree->Delete(key);
          });
      if (!status.ok()) {
        return Annotate(status,
                        absl::StrCat("replaying version ", version, ", store ", slot->first));
      }
      slot->second->writes += 1;
    }
    absl::StatusOr<CommitInfo> info = WorkingCommit(record->time);
    if (!info.ok()) return info.status();
    if (prepared_hash_ != record->app_hash) {
      return absl::DataLossError(
          absl::StrCat("version ", version, " from the write-ahead log has the app hash ",
                       ToHex(prepared_hash_), " instead of ", ToHex(record->app_hash)));
    }
    replaying_ = true;
    absl::Status status = Commit();
    replaying_ = false;
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// ---- Versions
// ------------------------------------------------------------------------------------------------------

int64_t Multistore::Impl::FirstVersionAfter(int64_t version) const {
  return version > 0 ? version + 1 : std::max<int64_t>(1, options_.initial_version);
}

absl::Status Multistore::Impl::ForEachSlot(const char* what,
                                           const std::function<absl::Status(Slot*)>& work) {
  // The stores with the most writes first: what is left at the end is small, so no thread waits
  // long for the others.
  std::vector<Slot*> order = work_;
  std::stable_sort(order.begin(), order.end(),
                   [](const Slot* a, const Slot* b) { return a->writes > b->writes; });
  pool_.Run(order.size(), [&](size_t i) {
    const profiling::ScopedLabel store(profiling::LabelKey::kStore, order[i]->label);
    order[i]->status = work(order[i]);
  });
  for (const Slot* slot : work_) {
    if (!slot->status.ok())
      return Annotate(slot->status, absl::StrCat(what, " store ", slot->spec.name));
  }
  return absl::OkStatus();
}

void Multistore::Impl::TakeBatches(WriteBatch* batch) {
  for (Slot* slot : work_) {
    if (!slot->batch.empty()) batch->Append(slot->batch);
    slot->batch.Clear();
  }
}

absl::StatusOr<CommitInfo> Multistore::Impl::WorkingCommit(const BlockTime& time) {
  if (!broken_.ok()) return broken_;
  if (committer_ != nullptr) {
    absl::Status status = committer_->status();
    if (!status.ok()) return Annotate(status, "writing an earlier version");
  }
  CommitInfo info;
  info.version = FirstVersionAfter(last_.version);
  info.time = time;
  info.format = last_.format;
  absl::Status status = ForEachSlot("hash", [&](Slot* slot) -> absl::Status {
    absl::StatusOr<Hash> hash = slot->tree->WorkingHash();
    if (!hash.ok()) return hash.status();
    slot->hash = *hash;
    if (slot->tree->next_version() != info.version) {
      return absl::FailedPreconditionError(absl::StrCat(
          "its next version is ", slot->tree->next_version(), ", the multistore's ", info.version));
    }
    return absl::OkStatus();
  });
  if (!status.ok()) return broken_ = Annotate(status, absl::StrCat("version ", info.version));
  info.stores.reserve(slots_.size());
  for (const auto& [name, slot] : slots_) {
    if (!slot->leaving)
      info.stores.push_back({.name = name, .version = info.version, .hash = slot->hash});
  }
  prepared_hash_ = AppHash(info);
  prepared_ = info;
  return info;
}

absl::Status Multistore::Impl::Commit() {
  if (!broken_.ok()) return broken_;
  if (closed_) return absl::FailedPreconditionError("the multistore is closed");
  if (!prepared_) {
    return absl::FailedPreconditionError(
        "a version must be hashed, with no write afterwards, to be committed");
  }
  const int64_t version = prepared_->version;
  absl::Status status;
  // When a deferred tree lets go of the version that was flushed, it reads that version's root
  // record.
  if (after_flush_) status = committer_->Drain();
  if (!status.ok()) return broken_ = Annotate(status, "writing a flush");
  after_flush_ = false;
  status = ForEachSlot("commit", [&](Slot* slot) -> absl::Status {
    absl::StatusOr<Hash> hash = slot->tree->Commit(&slot->batch);
    if (!hash.ok()) return hash.status();
    if (*hash != slot->hash) {
      return absl::InternalError(absl::StrCat("has the hash ", ToHex(*hash), " after and ",
                                              ToHex(slot->hash), " before the commit"));
    }
    return absl::OkStatus();
  });
  if (!status.ok()) return broken_ = Annotate(status, absl::StrCat("version ", version));

  last_ = *std::move(prepared_);
  prepared_.reset();
  last_hash_ = prepared_hash_;
  if (engine_ == nullptr) {
    EndVersion();
    return absl::OkStatus();
  }
  status = options_.persistence == Persistence::kEvery ? CommitEvery() : CommitDeferred();
  if (status.ok()) status = TrimToBudget();
  if (!status.ok()) broken_ = Annotate(status, absl::StrCat("version ", version));
  return broken_;
}

absl::Status Multistore::Impl::CommitEvery() {
  WriteBatch batch;
  TakeBatches(&batch);
  batch.Put(CommitInfoKey(last_.version), EncodeCommitInfo(last_));
  batch.Put(kLatestKey, EncodeLatestVersion(last_.version, last_.format));
  if (replaying_) wal_versions_.push_back(last_.version);
  DropWal(&batch);
  flushed_version_ = last_.version;
  EndVersion();
  absl::Status status = committer_->Enqueue(std::move(batch));
  if (!status.ok()) return status;

  const int64_t prune_to = last_.version - 1 - options_.keep_recent;
  if (options_.prune_interval <= 0 || last_.version % options_.prune_interval != 0 ||
      prune_to <= 0) {
    return absl::OkStatus();
  }
  status = committer_->Drain();  // trees look for what to delete in the database
  if (!status.ok()) return status;
  status = ForEachSlot(
      "prune", [&](Slot* slot) { return slot->tree->DeleteVersionsTo(prune_to, &slot->batch); });
  if (!status.ok()) return status;
  WriteBatch prune;
  TakeBatches(&prune);
  return prune.empty() ? absl::OkStatus() : committer_->Enqueue(std::move(prune));
}

absl::Status Multistore::Impl::CommitDeferred() {
  WriteBatch batch;
  batch.Put(CommitInfoKey(last_.version), EncodeCommitInfo(last_));
  size_t dirty_bytes = 0;
  for (const Slot* slot : work_) dirty_bytes += slot->spec.kind->DirtyBytes(*slot->tree);
  // Dirty nodes cannot be dropped, so they must not fill the cache.
  const size_t dirty_limit = std::min(options_.flush_bytes, options_.cache_bytes / 2);
  if (upgrading_ || last_.version - flushed_version_ >= options_.flush_interval_blocks ||
      dirty_bytes >= dirty_limit) {
    if (replaying_) wal_versions_.push_back(last_.version);
    absl::Status status = AppendFlush(&batch);
    if (!status.ok()) return status;
  } else if (replaying_) {
    wal_versions_.push_back(last_.version);
    EndVersion();
    return absl::OkStatus();  // the database has it all
  } else {
    WalRecord record{
        .version = last_.version, .app_hash = last_hash_, .time = last_.time, .stores = {}};
    for (const auto& [name, slot] : slots_) {
      if (!slot->log.bytes().empty()) record.stores.push_back({name, slot->log.bytes()});
    }
    batch.Put(WalKey(last_.version), EncodeWalRecord(record));
    wal_versions_.push_back(last_.version);
  }
  EndVersion();
  return committer_->Enqueue(std::move(batch));
}

void Multistore::Impl::DropWal(WriteBatch* batch) {
  for (const int64_t version : wal_versions_) batch->Delete(WalKey(version));
  wal_versions_.clear();
}

absl::Status Multistore::Impl::AppendFlush(WriteBatch* batch) {
  absl::Status status =
      committer_->Drain();  // trees take what the last flush wrote from the database
  if (!status.ok()) return status;
  status = ForEachSlot("flush", [&](Slot* slot) { return slot->tree->Flush(&slot->batch); });
  if (!status.ok()) return status;
  TakeBatches(batch);
  batch->Put(kLatestKey, EncodeLatestVersion(last_.version, last_.format));
  DropWal(batch);
  flushed_version_ = last_.version;
  after_flush_ = true;
  ++flushes_;
  return absl::OkStatus();
}

void Multistore::Impl::EndVersion() {
  for (Slot* slot : work_) {
    slot->log.Clear();
    slot->writes = 0;
  }
  if (!upgrading_) return;
  for (auto it = slots_.begin(); it != slots_.end();) {
    it = it->second->leaving ? slots_.erase(it) : std::next(it);
  }
  leaving_.clear();
  ListSlots();
  // A reload must not do it again.
  options_.stores.clear();
  for (const auto& [name, slot] : slots_) options_.stores.push_back(slot->spec);
  options_.upgrades = {};
  upgrading_ = false;
}

absl::Status Multistore::Impl::TrimToBudget() {
  size_t total = 0;
  for (const Slot* slot : work_) total += slot->tree->memory_bytes();
  if (total <= options_.cache_bytes) return absl::OkStatus();
  absl::Status status = committer_->Drain();
  if (!status.ok()) return status;
  // A little more than needed, so that not every version trims.
  const double share =
      0.875 * static_cast<double>(options_.cache_bytes) / static_cast<double>(total);
  for (Slot* slot : work_) {
    slot->tree->Trim(static_cast<size_t>(static_cast<double>(slot->tree->memory_bytes()) * share));
  }
  return absl::OkStatus();
}

absl::Status Multistore::Impl::Rollback() {
  prepared_.reset();
  bool reload = !broken_.ok() || upgrading_;
  if (!reload) {
    absl::Status status = Sync();
    if (!status.ok()) return status;
    for (Slot* slot : work_) {
      if (slot->writes == 0) continue;
      // Refused by trees that change their nodes in place.
      if (!slot->tree->Rollback().ok()) {
        reload = true;
        break;
      }
      slot->log.Clear();
      slot->writes = 0;
    }
  }
  return reload ? Reload() : absl::OkStatus();
}

absl::Status Multistore::Impl::Reload() {
  absl::Status status = Sync();
  if (status.ok()) status = Load();
  if (status.ok()) status = Replay(INT64_MAX);
  if (!status.ok()) broken_ = Annotate(status, "reading the last version again");
  return status;
}

absl::Status Multistore::Impl::Sync() {
  return committer_ != nullptr ? committer_->Drain() : absl::OkStatus();
}

absl::Status Multistore::Impl::Flush() {
  if (!broken_.ok()) return broken_;
  if (options_.persistence == Persistence::kDeferred && last_.version > 0 &&
      (flushed_version_ != last_.version || !wal_versions_.empty())) {
    for (const Slot* slot : work_) {
      if (slot->writes > 0) {
        return absl::FailedPreconditionError(
            absl::StrCat("store ", slot->spec.name, " has writes that are not committed"));
      }
    }
    WriteBatch batch;
    absl::Status status = AppendFlush(&batch);
    if (status.ok()) status = committer_->Enqueue(std::move(batch));
    if (!status.ok())
      return broken_ = Annotate(status, absl::StrCat("flush of version ", last_.version));
  }
  return Sync();
}

absl::Status Multistore::Impl::Close() {
  absl::Status status = Flush();
  closed_ = true;
  return status;
}

absl::Status Multistore::Impl::RollbackToVersion(int64_t target) {
  if (target <= 0 || target > last_.version) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot roll back to version ", target, "; the last one is ", last_.version));
  }
  absl::Status status = Sync();
  if (!status.ok()) return status;
  absl::StatusOr<int64_t> latest = ReadLatestVersion(*db_);
  if (!latest.ok()) return latest.status();
  const bool in_wal = target > *latest;
  if (options_.persistence == Persistence::kDeferred && target >= *latest) {
    // Versions after the last flush are in the write-ahead log only: shorten it.
    absl::StatusOr<std::vector<int64_t>> versions = ListWal(*db_);
    if (!versions.ok()) return versions.status();
    WriteBatch batch;
    for (const int64_t version : *versions) {
      if (version > target) batch.Delete(WalKey(version));
    }
    status = engine_->Write(batch, options_.durability);
    if (status.ok()) status = Reload();
    if (!status.ok() || in_wal) return status;
  }

  absl::StatusOr<CommitInfo> info = ReadCommitInfo(*db_, target);
  if (!info.ok()) return info.status();
  prepared_.reset();
  status = ForEachSlot("roll back", [&](Slot* slot) -> absl::Status {
    slot->tree.reset();
    slot->log.Clear();
    slot->writes = 0;
    absl::StatusOr<std::unique_ptr<CommitTree>> tree =
        slot->spec.kind->Load(db_, slot->spec.name, TreeSettings(options_.initial_version), target,
                              /*delete_later=*/true, &slot->batch);
    if (!tree.ok()) return tree.status();
    slot->tree = *std::move(tree);
    slot->hash = slot->tree->hash();
    return absl::OkStatus();
  });
  if (!status.ok()) return broken_ = Annotate(status, absl::StrCat("to version ", target));

  CommitInfo rolled_back{.version = target, .stores = {}, .time = {}, .format = info->format};
  for (const auto& [name, slot] : slots_) {
    rolled_back.stores.push_back({.name = name, .version = target, .hash = slot->hash});
  }
  WriteBatch batch;
  TakeBatches(&batch);
  batch.Put(CommitInfoKey(target), EncodeCommitInfo(rolled_back));
  batch.Put(kLatestKey, EncodeLatestVersion(target, last_.format));
  absl::StatusOr<std::vector<int64_t>> wal = ListWal(*db_);
  if (!wal.ok()) return wal.status();
  wal_versions_ = *std::move(wal);
  DropWal(&batch);
  status = engine_->Write(batch, options_.durability);
  if (!status.ok())
    return broken_ = Annotate(status, absl::StrCat("roll back to version ", target));
  return Load();
}

void Multistore::Impl::Adopt(const CommitInfo& info,
                             std::map<std::string, std::unique_ptr<CommitTree>> trees) {
  last_ = info;
  last_hash_ = AppHash(info);
  flushed_version_ = info.version;
  options_.stores.clear();
  for (auto& [name, tree] : trees) {
    auto slot = std::make_unique<Slot>(StoreSpec{.name = name}, this);
    slot->tree = std::move(tree);
    options_.stores.push_back(slot->spec);
    slots_.emplace(name, std::move(slot));
  }
  ListSlots();
}

Store* Multistore::Impl::store(std::string_view name) {
  const auto slot = slots_.find(name);
  return slot == slots_.end() || slot->second->leaving ? nullptr : slot->second.get();
}

CommitTree* Multistore::Impl::tree(std::string_view name) const {
  const auto slot = slots_.find(name);
  return slot == slots_.end() || slot->second->leaving ? nullptr : slot->second->tree.get();
}

Multistore::Stats Multistore::Impl::stats() const {
  Stats stats;
  stats.worker_cpu_nanos = pool_.cpu_nanos();
  if (committer_ != nullptr) stats.committer_cpu_nanos = committer_->cpu_nanos();
  for (const Slot* slot : work_) {
    if (slot->tree == nullptr) continue;
    stats.tree_bytes += slot->tree->memory_bytes();
    stats.dirty_bytes += slot->spec.kind->DirtyBytes(*slot->tree);
  }
  stats.flushes = flushes_;
  stats.flushed_version = flushed_version_;
  return stats;
}

// ---- Multistore
// ----------------------------------------------------------------------------------------------------

absl::StatusOr<std::unique_ptr<Multistore>> Multistore::Open(Engine* engine,
                                                             const MultistoreOptions& options) {
  if (!options.upgrades.empty()) {
    // The write-ahead log is about the stores as they were before the upgrade.
    absl::StatusOr<std::vector<int64_t>> wal = ListWal(*engine);
    if (!wal.ok()) return wal.status();
    if (!wal->empty()) {
      MultistoreOptions before = options;
      before.stores.clear();
      before.upgrades = {};
      absl::StatusOr<std::unique_ptr<Multistore>> old = Open(engine, before);
      if (!old.ok()) return old.status();
      absl::Status status = (*old)->Close();
      if (!status.ok()) return status;
    }
  }
  auto impl = std::make_unique<Impl>(engine, engine, options);
  absl::Status status = impl->Load();
  if (status.ok()) status = impl->Replay(INT64_MAX);
  if (!status.ok()) return status;
  return std::unique_ptr<Multistore>(new Multistore(std::move(impl)));
}

Multistore::Multistore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Multistore::~Multistore() = default;

int64_t Multistore::version() const { return impl_->last_.version; }
const CommitInfo& Multistore::last_commit() const { return impl_->last_; }
Hash Multistore::app_hash() const { return impl_->last_hash_; }
const std::vector<std::string>& Multistore::store_names() const { return impl_->names_; }
Store* Multistore::store(std::string_view name) { return impl_->store(name); }
const CommitTree* Multistore::tree(std::string_view name) const { return impl_->tree(name); }
absl::StatusOr<CommitInfo> Multistore::WorkingCommit(const BlockTime& time) {
  return impl_->WorkingCommit(time);
}
absl::Status Multistore::Commit() { return impl_->Commit(); }
absl::Status Multistore::Rollback() { return impl_->Rollback(); }
absl::Status Multistore::Sync() { return impl_->Sync(); }
absl::Status Multistore::Flush() { return impl_->Flush(); }
absl::Status Multistore::Close() { return impl_->Close(); }
absl::Status Multistore::RollbackToVersion(int64_t target) {
  return impl_->RollbackToVersion(target);
}
Multistore::Stats Multistore::stats() const { return impl_->stats(); }

absl::StatusOr<std::unique_ptr<MultistoreView>> Multistore::View(int64_t version) {
  return MultistoreView::OfLive(this, version);
}

}  // namespace blockreplay::storage
