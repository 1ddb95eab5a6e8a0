#pragma once

// What a multistore records about a version, and the keys it has in the database besides its
// stores' (cosmossdk.io/store v1.1, rootmulti): `s/<version>`, a CommitInfo message, and
// `s/latest`.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/commit_tree.h"
#include "storage/kv/store.h"

namespace blockreplay::storage {

// Time of a block's header. The default is Go's zero time, 0001-01-01T00:00:00Z, which a version
// has whose header nobody gave: after a restore or a rollback.
struct BlockTime {
  int64_t seconds = -62135596800;
  int32_t nanos = 0;

  friend bool operator==(const BlockTime&, const BlockTime&) = default;
};

struct StoreInfo {
  std::string name;
  int64_t version = 0;
  Hash hash{};  // root of the store's tree; all zero for a store that has none

  friend bool operator==(const StoreInfo&, const StoreInfo&) = default;
};

// Whose rules the records and the app hash follow.
enum class CommitFormat {
  kSdk,  // cosmossdk.io/store v1.1
  kTm2,  // gnolang/gno, tm2/pkg/store/rootmulti: amino, no time; a store without a tree has no root
};

struct CommitInfo {
  int64_t version = 0;
  std::vector<StoreInfo> stores;  // ascending bytewise by name
  BlockTime time;
  CommitFormat format = CommitFormat::kSdk;

  // Null if there is no such store.
  const StoreInfo* Find(std::string_view name) const;

  friend bool operator==(const CommitInfo&, const CommitInfo&) = default;
};

// The app hash: of the stores' names and hashes; version and time are not in it.
Hash AppHash(const CommitInfo& info);

// The bytes that the Go node writes.
std::string EncodeCommitInfo(const CommitInfo& info);
// Of either format. kDataLoss if `bytes` are not a CommitInfo message, a hash has not 32 bytes, or
// the stores are not in order (which in tm2 they need not be).
absl::StatusOr<CommitInfo> DecodeCommitInfo(std::string_view bytes);

inline constexpr char kLatestKey[] = "s/latest";
std::string CommitInfoKey(int64_t version);
// "s/k:<store>/", under which all keys of a store are.
std::string StorePrefix(std::string_view store);

std::string EncodeLatestVersion(int64_t version, CommitFormat format = CommitFormat::kSdk);
// Of either format; 0 if the database has no version.
absl::StatusOr<int64_t> ReadLatestVersion(const Reader& db);
// kNotFound if the database has no such version.
absl::StatusOr<CommitInfo> ReadCommitInfo(const Reader& db, int64_t version);

// Lower-case hex.
std::string ToHex(const Hash& hash);
// The bytes themselves, as messages have them.
std::string ToRaw(const Hash& hash);

}  // namespace blockreplay::storage
