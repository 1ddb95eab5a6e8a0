#pragma once

// Part of a multistore's state (proto/blockreplay/v1/partial_state.proto): the nodes that a range
// of versions needs, with the rest of each tree left out. B+ trees of tm2 are there as a whole.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "blockreplay/v1/partial_state.pb.h"
#include "storage/iavl/codec.h"
#include "storage/kv/engine.h"
#include "storage/multistore/multistore.h"

namespace blockreplay::storage {

// The engine of a multistore whose node reads are to be known: notes which of its nodes are read,
// and hands everything on. Reads of one thread, writes of any.
class NodeReadEngine final : public Engine {
 public:
  // `engine` must outlive this. Notes nodes of versions up to `last_version`.
  NodeReadEngine(Engine* engine, int64_t last_version)
      : engine_(engine), last_version_(last_version) {}

  // Whether that node of the store was read.
  bool WasRead(std::string_view store, const iavl::NodeId& id) const;

  absl::StatusOr<bool> Get(std::string_view key, std::string* value) const override;
  absl::StatusOr<bool> Has(std::string_view key) const override { return engine_->Has(key); }
  std::unique_ptr<Iterator> NewIterator(const KeyRange& range, Direction direction) const override {
    return engine_->NewIterator(range, direction);
  }
  absl::Status Set(std::string_view key, std::string_view value) override {
    return engine_->Set(key, value);
  }
  absl::Status Delete(std::string_view key) override { return engine_->Delete(key); }
  absl::Status Write(const WriteBatch& batch, Durability durability) override {
    return engine_->Write(batch, durability);
  }
  Stats stats() const override { return engine_->stats(); }

 private:
  Engine* const engine_;
  const int64_t last_version_;
  mutable absl::flat_hash_set<std::string> read_;  // database keys of nodes
};

// Hands out the items of `version`: of each store the nodes that `wanted` says yes to, with their
// ancestors and the root. kUnimplemented for stores that are no IAVL trees and for legacy nodes.
absl::Status WritePartialState(
    const Reader* db, int64_t version,
    const std::function<bool(std::string_view store, const iavl::NodeId& id)>& wanted,
    const std::function<absl::Status(const v1::PartialStateItem&)>& sink);

// Hands out the items of `version` of a tm2 chain's database: all nodes of its B+ tree. Of the
// store without a tree there is only the name.
absl::Status WriteTm2State(const Reader* db, int64_t version,
                           const std::function<absl::Status(const v1::PartialStateItem&)>& sink);

struct PartialStateOptions {
  // Of the multistore that is opened; `stores` must be those of the state.
  MultistoreOptions multistore;
  int64_t version = 0;
  // That the stores must have; without it any is accepted.
  std::optional<Hash> expected_app_hash;
};
// The next item; null at the end. Valid until the next call.
using PartialStateSource = std::function<absl::StatusOr<const v1::PartialStateItem*>()>;

// Puts the state into `engine`, which must have no committed version, and opens the multistore
// there. The version becomes visible in the last write, after the stores' roots were found to have
// the app hash: kDataLoss otherwise. What the state leaves out ends in kOutOfRange with the store
// and the key where something gets there; a full IAVL database it is not, and no Go node can open
// it. tm2 states leave nothing out.
absl::StatusOr<std::unique_ptr<Multistore>> RestorePartialState(Engine* engine,
                                                                const PartialStateOptions& options,
                                                                const PartialStateSource& source);

}  // namespace blockreplay::storage
