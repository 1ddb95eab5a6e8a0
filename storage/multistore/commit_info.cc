#include "storage/multistore/commit_info.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "cosmos/store/v1beta1/commit_info.pb.h"
#include "google/protobuf/wrappers.pb.h"
#include "storage/bptree/commit_info.h"
#include "storage/ics23/build.h"

namespace blockreplay::storage {

namespace pb = ::cosmos::store::v1beta1;

namespace {

std::vector<bptree::CommittedStore> Tm2Stores(const CommitInfo& info) {
  std::vector<bptree::CommittedStore> stores;
  stores.reserve(info.stores.size());
  for (const StoreInfo& store : info.stores) {
    stores.push_back({store.name, store.hash == Hash{} ? std::nullopt : std::optional(store.hash)});
  }
  return stores;
}

// tm2 writes the length first. What the SDK writes begins with 0x08, the tag of the version; read
// as a length that leaves no room for a store.
bool IsTm2(std::string_view bytes) { return bptree::DecodeCommit(bytes).ok(); }

absl::StatusOr<CommitInfo> DecodeTm2(std::string_view bytes) {
  absl::StatusOr<bptree::CommittedVersion> commit = bptree::DecodeCommit(bytes);
  if (!commit.ok()) return commit.status();
  CommitInfo info;
  info.version = commit->version;
  info.format = CommitFormat::kTm2;
  for (const bptree::CommittedStore& store : commit->stores) {
    info.stores.push_back(
        {.name = store.name, .version = commit->version, .hash = store.root.value_or(Hash{})});
  }
  std::sort(info.stores.begin(), info.stores.end(),
            [](const StoreInfo& a, const StoreInfo& b) { return a.name < b.name; });
  return info;
}

}  // namespace

const StoreInfo* CommitInfo::Find(std::string_view name) const {
  const auto it =
      std::lower_bound(stores.begin(), stores.end(), name,
                       [](const StoreInfo& store, std::string_view n) { return store.name < n; });
  return it != stores.end() && it->name == name ? &*it : nullptr;
}

Hash AppHash(const CommitInfo& info) {
  if (info.format == CommitFormat::kTm2) return bptree::AppHash(Tm2Stores(info));
  std::vector<ics23::NamedHash> stores;
  stores.reserve(info.stores.size());
  for (const StoreInfo& store : info.stores) stores.push_back({store.name, store.hash});
  return ics23::SimpleMapRoot(stores);
}

std::string EncodeCommitInfo(const CommitInfo& info) {
  if (info.format == CommitFormat::kTm2)
    return bptree::EncodeCommit({.version = info.version, .stores = Tm2Stores(info)});
  pb::CommitInfo message;
  message.set_version(info.version);
  for (const StoreInfo& store : info.stores) {
    pb::StoreInfo* out = message.add_store_infos();
    out->set_name(store.name);
    out->mutable_commit_id()->set_version(store.version);
    out->mutable_commit_id()->set_hash(std::string(store.hash.begin(), store.hash.end()));
  }
  message.mutable_timestamp()->set_seconds(info.time.seconds);
  message.mutable_timestamp()->set_nanos(info.time.nanos);
  return message.SerializeAsString();
}

absl::StatusOr<CommitInfo> DecodeCommitInfo(std::string_view bytes) {
  if (IsTm2(bytes)) return DecodeTm2(bytes);
  pb::CommitInfo message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::DataLossError("not a CommitInfo message");
  }
  CommitInfo info;
  info.version = message.version();
  info.time = {.seconds = message.timestamp().seconds(), .nanos = message.timestamp().nanos()};
  info.stores.reserve(static_cast<size_t>(message.store_infos_size()));
  for (const pb::StoreInfo& in : message.store_infos()) {
    StoreInfo store{.name = in.name(), .version = in.commit_id().version(), .hash = {}};
    const std::string& hash = in.commit_id().hash();
    if (hash.size() != store.hash.size()) {
      return absl::DataLossError(
          absl::StrCat("hash of store ", store.name, " has ", hash.size(), " bytes"));
    }
    std::copy(hash.begin(), hash.end(), store.hash.begin());
    if (!info.stores.empty() && info.stores.back().name >= store.name) {
      return absl::DataLossError(absl::StrCat("store ", store.name, " is out of order"));
    }
    info.stores.push_back(std::move(store));
  }
  return info;
}

std::string CommitInfoKey(int64_t version) { return absl::StrCat("s/", version); }

std::string StorePrefix(std::string_view store) {
  std::string prefix = "s/k:";
  prefix.append(store);
  prefix.push_back('/');
  return prefix;
}

std::string EncodeLatestVersion(int64_t version, CommitFormat format) {
  if (format == CommitFormat::kTm2) return bptree::EncodeLatest(version);
  google::protobuf::Int64Value message;
  message.set_value(version);
  return message.SerializeAsString();
}

absl::StatusOr<int64_t> ReadLatestVersion(const Reader& db) {
  std::string bytes;
  absl::StatusOr<bool> found = db.Get(kLatestKey, &bytes);
  if (!found.ok()) return found.status();
  if (!*found) return 0;
  // What the SDK writes is never as long as its first byte, 0x08, would say as a length.
  if (const absl::StatusOr<int64_t> tm2 = bptree::DecodeLatest(bytes); tm2.ok()) return *tm2;
  google::protobuf::Int64Value message;
  if (!message.ParseFromString(bytes) || message.value() < 0) {
    return absl::DataLossError(absl::StrCat("key ", kLatestKey, ": not a version"));
  }
  return message.value();
}

absl::StatusOr<CommitInfo> ReadCommitInfo(const Reader& db, int64_t version) {
  const std::string key = CommitInfoKey(version);
  std::string bytes;
  absl::StatusOr<bool> found = db.Get(key, &bytes);
  if (!found.ok()) return found.status();
  if (!*found) {
    return absl::NotFoundError(
        absl::StrCat("version ", version, " is not in the database (no key ", key, ")"));
  }
  absl::StatusOr<CommitInfo> info = DecodeCommitInfo(bytes);
  if (!info.ok())
    return absl::DataLossError(absl::StrCat("key ", key, ": ", info.status().message()));
  if (info->version != version) {
    return absl::DataLossError(absl::StrCat("key ", key, ": is of version ", info->version));
  }
  return info;
}

std::string ToHex(const Hash& hash) { return absl::BytesToHexString(ToRaw(hash)); }

std::string ToRaw(const Hash& hash) { return {hash.begin(), hash.end()}; }

}  // namespace blockreplay::storage
