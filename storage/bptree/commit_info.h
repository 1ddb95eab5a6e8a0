#pragma once

// What tm2 records about a version of its multistore, and the hash of it (tm2/pkg/store/rootmulti):
// amino messages with their length before them. fixtures/gno/SPEC.md, sections 1 and 1.3.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/commit_tree.h"

namespace blockreplay::storage::bptree {

// Under which the records of all stores are that share the node's database.
inline constexpr char kSharedPrefix[] = "s/_/";

struct CommittedStore {
  std::string name;
  // Nothing for a store without a tree: of that only the name is in the app hash.
  std::optional<Hash> root;
  friend bool operator==(const CommittedStore&, const CommittedStore&) = default;
};

// Stores may come in any order; in the database they are in the order given.
Hash AppHash(const std::vector<CommittedStore>& stores);

struct CommittedVersion {
  int64_t version = 0;
  std::vector<CommittedStore> stores;
  friend bool operator==(const CommittedVersion&, const CommittedVersion&) = default;
};

// Value of `s/<version>`. Which order the original's stores have is that of a Go map: any.
std::string EncodeCommit(const CommittedVersion& commit);
// kDataLoss where amino refuses, and if a root has not the version of the whole.
absl::StatusOr<CommittedVersion> DecodeCommit(std::string_view bytes);

// Value of `s/latest`.
std::string EncodeLatest(int64_t version);
absl::StatusOr<int64_t> DecodeLatest(std::string_view bytes);

}  // namespace blockreplay::storage::bptree
