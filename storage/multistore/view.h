#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/iavl/tree.h"
#include "storage/iavl/view.h"
#include "storage/kv/store.h"
#include "storage/multistore/commit_info.h"
#include "storage/multistore/multistore.h"
#include "tendermint/crypto/proof.pb.h"

namespace blockreplay::storage {

// A committed version of a multistore, read-only. Of IAVL stores there is the whole tree, of others
// keys and values. Reads change what is kept in memory: one thread at a time.
class MultistoreView {
 public:
  // Opens `version`, 0 for the last, of any database with a multistore: a Go node's, ours, a
  // LevelDB source. Versions that are in the write-ahead log only are made again in memory. Writes
  // nothing. `db` must outlive the view. kNotFound for a version that does not exist, or whose
  // trees were pruned (on the first use of a store).
  static absl::StatusOr<std::unique_ptr<MultistoreView>> Open(const Reader* db, int64_t version);

  ~MultistoreView();
  MultistoreView(const MultistoreView&) = delete;
  MultistoreView& operator=(const MultistoreView&) = delete;

  int64_t version() const { return info_.version; }
  const CommitInfo& commit_info() const { return info_; }

  // A store's tree, opened on first use and checked against the commit info; valid as long as the
  // view. kNotFound if the version has no such store.
  absl::StatusOr<const iavl::View*> store(std::string_view name);
  // Keys and values of a store, whatever its tree; opened, checked and valid likewise.
  // kUnimplemented for tm2's stores without a tree: where they are, there are the records of a tree
  // too, and nothing tells one from the other.
  absl::StatusOr<const Reader*> reader(std::string_view name);

  struct QueryResult {
    int64_t version = 0;
    std::optional<std::string> value;  // nothing if the key is absent
    ::tendermint::crypto::ProofOps proof;
  };
  // What an ABCI query `/<store>/key` with a proof answers. In an empty store there is nothing that
  // a proof could show: the answer is as the Go node's, and no verifier accepts it.
  absl::StatusOr<QueryResult> Query(std::string_view store, std::string_view key);

 private:
  friend class Multistore;

  struct Opened {
    std::unique_ptr<iavl::Tree> tree;  // null where a live multistore has it
    std::unique_ptr<iavl::View> view;
  };

  absl::StatusOr<const StoreInfo*> FindStore(std::string_view name) const;
  // "store <name>, version <version>: <what>".
  absl::Status Annotate(std::string_view name, const absl::Status& status) const;

  MultistoreView(const Reader* db, CommitInfo info) : db_(db), info_(std::move(info)) {}
  static absl::StatusOr<std::unique_ptr<MultistoreView>> OfLive(Multistore* live, int64_t version);

  const Reader* db_;
  CommitInfo info_;
  std::unique_ptr<Multistore> replayed_;  // owns live_ where the version had to be made again
  Multistore* live_ = nullptr;
  std::map<std::string, Opened, std::less<>> opened_;
  std::map<std::string, std::unique_ptr<CommitTree>, std::less<>> opened_tm2_;
};

// The height that a Go node's query means when it names none: the last but one if it exists,
// because its proof can be checked against the last header; else the last.
absl::StatusOr<int64_t> DefaultQueryHeight(const Reader& db);

// A store that a database has keys of.
struct StoreInDatabase {
  std::string name;
  int64_t latest_version = 0;     // of its tree; 0 if there is none
  bool in_latest_commit = false;  // not so for a deleted store, whose records stay
};
// Found by the keys `s/k:<store>/`, whatever the commit infos say. Ascending.
absl::StatusOr<std::vector<StoreInDatabase>> ListStores(const Reader& db);

// Versions with a commit info, ascending. Their trees may be pruned; after a rollback there are
// some above `s/latest`.
absl::StatusOr<std::vector<int64_t>> ListVersions(const Reader& db);

}  // namespace blockreplay::storage
