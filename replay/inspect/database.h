#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/kv/store.h"
#include "storage/multistore/view.h"

namespace blockreplay::replay {

// "PATH@H": a path and a height.
struct PathAtHeight {
  std::string path;
  std::optional<int64_t> height;
};
// What follows the last '@' is a height if it is a number; a path that exists as it stands is taken
// as it is.
absl::StatusOr<PathAtHeight> ParsePathAtHeight(const std::string& text);

// A database with a multistore, opened for reading and left as it is: a kept one of ours, a RocksDB
// or goleveldb database of a node (`application.db`), or the folder that has an `application.db` in
// it, also below `data/`.
class InspectedDatabase {
 public:
  static absl::StatusOr<InspectedDatabase> Open(const std::string& path);

  const std::string& path() const { return path_; }
  // From blockreplay.json; empty if there is none.
  const std::string& chain_id() const { return chain_id_; }
  // Versions that have a commit info, ascending, up to the last one. Their trees may be pruned.
  const std::vector<int64_t>& versions() const { return versions_; }
  int64_t last_version() const { return versions_.back(); }
  // The error names the path and what heights there are.
  absl::StatusOr<std::unique_ptr<storage::MultistoreView>> View(int64_t version) const;
  absl::StatusOr<storage::CommitInfo> ReadCommitInfo(int64_t version) const;

 private:
  std::string path_;
  std::string chain_id_;
  std::unique_ptr<storage::Reader> reader_;
  std::vector<int64_t> versions_;
};

}  // namespace blockreplay::replay
