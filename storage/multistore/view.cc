#include "storage/multistore/view.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "storage/bptree/tree_kinds.h"
#include "storage/ics23/build.h"
#include "storage/multistore/multistore_impl.h"
#include "storage/multistore/wal.h"

namespace blockreplay::storage {
namespace {

absl::Status NoSuchVersion(int64_t version, int64_t last) {
  if (last == 0) return absl::NotFoundError("the database has no committed version");
  return absl::NotFoundError(
      absl::StrCat("version ", version, " does not exist; the last one is ", last));
}

}  // namespace

absl::StatusOr<std::unique_ptr<MultistoreView>> MultistoreView::Open(const Reader* db,
                                                                     int64_t version) {
  absl::StatusOr<int64_t> latest = ReadLatestVersion(*db);
  if (!latest.ok()) return latest.status();
  absl::StatusOr<std::vector<int64_t>> wal = ListWal(*db);
  if (!wal.ok()) return wal.status();
  const bool unused_wal = wal->empty() || IsObsoleteWal(*wal, *latest);
  const int64_t last = unused_wal ? *latest : wal->back();
  if (version == 0) version = last;
  if (version <= 0 || version > last) return NoSuchVersion(version, last);

  if (version > *latest) {
    MultistoreOptions options;
    options.persistence = Persistence::kDeferred;
    options.threads = 1;
    auto impl = std::make_unique<Multistore::Impl>(db, nullptr, options);
    absl::Status status = impl->Load();
    if (status.ok()) status = impl->Replay(version);
    if (!status.ok()) return status;
    auto replayed = std::unique_ptr<Multistore>(new Multistore(std::move(impl)));
    absl::StatusOr<std::unique_ptr<MultistoreView>> view = OfLive(replayed.get(), version);
    if (view.ok()) (*view)->replayed_ = std::move(replayed);
    return view;
  }
  absl::StatusOr<CommitInfo> info = ReadCommitInfo(*db, version);
  if (!info.ok()) return info.status();
  return std::unique_ptr<MultistoreView>(new MultistoreView(db, *std::move(info)));
}

absl::StatusOr<std::unique_ptr<MultistoreView>> MultistoreView::OfLive(Multistore* live,
                                                                       int64_t version) {
  const Multistore::Impl& impl = *live->impl_;
  absl::Status status = live->Sync();
  if (!status.ok()) return status;
  if (version == 0) version = live->version();
  if (version <= 0 || version > live->version()) return NoSuchVersion(version, live->version());
  CommitInfo info = impl.last_;
  if (version != info.version) {
    absl::StatusOr<CommitInfo> read = ReadCommitInfo(*impl.db_, version);
    if (!read.ok()) return read.status();
    info = *std::move(read);
  }
  auto view = std::unique_ptr<MultistoreView>(new MultistoreView(impl.db_, std::move(info)));
  view->live_ = live;
  return view;
}

// Views go before the trees they came from.
MultistoreView::~MultistoreView() {
  for (auto& [name, opened] : opened_) opened.view.reset();
}

absl::StatusOr<const StoreInfo*> MultistoreView::FindStore(std::string_view name) const {
  if (const StoreInfo* const store = info_.Find(name)) return store;
  return absl::NotFoundError(
      absl::StrCat("version ", info_.version, " has no store ", std::string(name)));
}

absl::Status MultistoreView::Annotate(std::string_view name, const absl::Status& status) const {
  return absl::Status(status.code(), absl::StrCat("store ", std::string(name), ", version ",
                                                  info_.version, ": ", status.message()));
}

absl::StatusOr<const Reader*> MultistoreView::reader(std::string_view name) {
  if (info_.format == CommitFormat::kSdk) return store(name);
  const auto known = opened_tm2_.find(name);
  if (known != opened_tm2_.end()) return known->second.get();
  const absl::StatusOr<const StoreInfo*> in_info = FindStore(name);
  if (!in_info.ok()) return in_info.status();
  if ((*in_info)->hash == Hash{}) {
    return Annotate(name, absl::UnimplementedError(
                              "has no tree, and its keys cannot be told from a tree's records"));
  }
  if (live_ != nullptr && live_->version() == info_.version) return live_->store(name);
  WriteBatch never_written;
  absl::StatusOr<std::unique_ptr<CommitTree>> tree = bptree::TreeStoreKind()->Load(
      db_, std::string(name), {.persistence = Persistence::kEvery}, info_.version,
      /*delete_later=*/false, &never_written);
  if (!tree.ok()) return Annotate(name, tree.status());
  if ((*tree)->hash() != (*in_info)->hash) {
    return Annotate(
        name, absl::DataLossError(absl::StrCat("the tree's hash is ", ToHex((*tree)->hash()),
                                               ", the commit info's ", ToHex((*in_info)->hash))));
  }
  return opened_tm2_.emplace(name, *std::move(tree)).first->second.get();
}

absl::StatusOr<const iavl::View*> MultistoreView::store(std::string_view name) {
  const auto known = opened_.find(name);
  if (known != opened_.end()) return known->second.view.get();
  const std::string store(name);
  const auto annotate = [&](const absl::Status& status) { return Annotate(name, status); };
  const absl::StatusOr<const StoreInfo*> found = FindStore(name);
  if (!found.ok()) return found.status();
  const StoreInfo* const in_info = *found;
  if (info_.format != CommitFormat::kSdk) {
    return annotate(absl::UnimplementedError(
        "is no IAVL tree: snapshots and change sets are not there for it, keys and values are"));
  }
  Opened opened;
  const iavl::Tree* tree = nullptr;
  if (live_ != nullptr && live_->tree(name) != nullptr) {
    tree = dynamic_cast<const iavl::Tree*>(live_->tree(name));
    if (tree == nullptr) return annotate(absl::UnimplementedError("is not an IAVL tree"));
  } else {
    iavl::TreeOptions options;
    options.persist = iavl::Persist::kEvery;
    WriteBatch never_written;
    absl::StatusOr<std::unique_ptr<iavl::Tree>> loaded =
        iavl::Tree::Load(db_, StorePrefix(name), options, info_.version, &never_written);
    if (!loaded.ok()) return annotate(loaded.status());
    opened.tree = *std::move(loaded);
    tree = opened.tree.get();
  }
  absl::StatusOr<std::unique_ptr<iavl::View>> view = tree->GetImmutable(info_.version);
  if (!view.ok()) return annotate(view.status());
  opened.view = *std::move(view);
  if (opened.view->hash() != in_info->hash) {
    return annotate(
        absl::DataLossError(absl::StrCat("the tree's hash is ", ToHex(opened.view->hash()),
                                         ", the commit info's ", ToHex(in_info->hash))));
  }
  return opened_.emplace(store, std::move(opened)).first->second.view.get();
}

absl::StatusOr<MultistoreView::QueryResult> MultistoreView::Query(std::string_view store_name,
                                                                  std::string_view key) {
  if (key.empty()) return absl::InvalidArgumentError("a query for an empty key");
  absl::StatusOr<const iavl::View*> view = store(store_name);
  if (!view.ok()) return view.status();
  QueryResult result;
  result.version = info_.version;
  ics23::CommitmentProof in_store;
  absl::StatusOr<std::optional<iavl::MembershipPath>> path = (*view)->GetPath(key);
  if (!path.ok()) return path.status();
  if (path->has_value()) {
    result.value = (*path)->value;
    in_store = ics23::MakeIavlExistenceProof(**path);
  } else {
    absl::StatusOr<iavl::NeighbourPaths> neighbours = (*view)->GetNeighbours(key);
    if (!neighbours.ok()) return neighbours.status();
    in_store = ics23::MakeIavlNonExistenceProof(key, *neighbours);
  }
  std::vector<ics23::NamedHash> stores;
  size_t index = 0;
  for (const StoreInfo& store : info_.stores) {
    if (store.name == store_name) index = stores.size();
    stores.push_back({store.name, store.hash});
  }
  result.proof =
      ics23::MakeQueryProofOps(key, in_store, store_name, ics23::MakeSimpleMapProof(stores, index));
  return result;
}

absl::StatusOr<int64_t> DefaultQueryHeight(const Reader& db) {
  absl::StatusOr<int64_t> latest = ReadLatestVersion(db);
  if (!latest.ok()) return latest;
  if (*latest < 2) return latest;
  absl::StatusOr<std::unique_ptr<MultistoreView>> view = MultistoreView::Open(&db, *latest - 1);
  if (!view.ok()) return latest;
  // Pruning treats all stores alike: one of them tells whether the version is still there.
  for (const StoreInfo& store : (*view)->commit_info().stores) {
    return (*view)->store(store.name).ok() ? *latest - 1 : *latest;
  }
  return *latest - 1;
}

absl::StatusOr<std::vector<StoreInDatabase>> ListStores(const Reader& db) {
  absl::StatusOr<int64_t> latest = ReadLatestVersion(db);
  if (!latest.ok()) return latest.status();
  CommitInfo info;
  if (*latest > 0) {
    absl::StatusOr<CommitInfo> read = ReadCommitInfo(db, *latest);
    if (!read.ok()) return read.status();
    info = *std::move(read);
  }
  constexpr std::string_view kPrefix = "s/k:";
  std::vector<StoreInDatabase> stores;
  KeyRange range = KeyRange::Prefix(kPrefix);
  while (true) {
    // One seek for each store: the next one is behind everything below `s/k:<store>/`.
    std::string key;
    {
      const std::unique_ptr<Iterator> it = db.NewIterator(range, Direction::kForward);
      if (!it->status().ok()) return it->status();
      if (!it->Valid()) return stores;
      key = it->key();
    }
    const size_t slash = key.find('/', kPrefix.size());
    if (slash == std::string::npos) {
      range.start = key + '\0';
      continue;
    }
    StoreInDatabase store;
    store.name = key.substr(kPrefix.size(), slash - kPrefix.size());
    absl::StatusOr<int64_t> version = iavl::Tree::LatestVersion(&db, StorePrefix(store.name));
    if (!version.ok()) return version.status();
    store.latest_version = *version;
    store.in_latest_commit = info.Find(store.name) != nullptr;
    stores.push_back(store);
    range.start = *KeyRange::Prefix(StorePrefix(store.name)).end;
  }
}

absl::StatusOr<std::vector<int64_t>> ListVersions(const Reader& db) {
  // Decimal numbers come before ':' and after '/'.
  const KeyRange range{.start = "s/0", .end = "s/:"};
  std::vector<int64_t> versions;
  const std::unique_ptr<Iterator> it = db.NewIterator(range, Direction::kForward);
  for (; it->Valid(); it->Next()) {
    int64_t version = 0;
    const std::string digits(it->key().substr(2));
    if (absl::SimpleAtoi(digits, &version) && version > 0 && CommitInfoKey(version) == it->key()) {
      versions.push_back(version);
    }
  }
  if (!it->status().ok()) return it->status();
  std::sort(versions.begin(), versions.end());
  return versions;
}

}  // namespace blockreplay::storage
