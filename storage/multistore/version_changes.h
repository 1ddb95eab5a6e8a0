#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "storage/iavl/version_sequence.h"
#include "storage/kv/store.h"
#include "storage/multistore/commit_info.h"
#include "storage/multistore/node_reader.h"

namespace blockreplay::storage {

// What the versions of a multistore of IAVL trees changed, one after the other: the keys that a
// version does not share with the one before as the same leaf, so sets of an unchanged value are
// among them, and deletes of absent keys are not. For one thread.
class VersionChanges {
 public:
  // Begins at the version of `info`; version 0, without stores, for one that begins with the chain.
  // `db` must not change, and must outlive this. About `memory_bytes` of nodes are kept from one
  // version to the next.
  VersionChanges(const Reader* db, CommitInfo info, size_t memory_bytes);
  VersionChanges(const VersionChanges&) = delete;
  VersionChanges& operator=(const VersionChanges&) = delete;

  const CommitInfo& info() const { return info_; }

  using Visitor = std::function<absl::Status(const std::string& store, std::string_view key,
                                             std::optional<std::string_view> value)>;
  // Goes on to the version of `info`, a later one. Calls `visit` store by store with keys
  // ascending; nothing for a key that is gone. Everything in a store that was not there before is
  // new; stores with the same root are not read. Each tree's root must have the hash that `info`
  // says. Errors name store and version; nothing may be asked after one.
  absl::Status Advance(CommitInfo info, const Visitor& visit);

 private:
  absl::Status AdvanceStore(const StoreInfo* before, const StoreInfo& after, const CommitInfo& info,
                            const Visitor& visit);
  void Trim();

  const NodeReader reader_;
  const size_t memory_bytes_;
  CommitInfo info_;
  // By store, those that were read so far; a tree that did not change stays at an earlier version.
  std::map<std::string, std::unique_ptr<iavl::VersionSequence>, std::less<>> sequences_;
};

}  // namespace blockreplay::storage
