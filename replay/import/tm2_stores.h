#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "replay/import/tm2_records.h"
#include "storage/kv/store.h"

namespace blockreplay::replay {

// A tm2 node's blockstore.db (tm2/pkg/bft/store): `blockStore` has the height, `H:<height>` a
// BlockMeta, `P:<height>:<index>` the parts of the block. Blocks are never pruned. What it returns
// is proven to be the block of its hash, which itself is believed. One thread.
class Tm2BlockStore {
 public:
  // `db` must outlive it. `name` stands for it in messages. kNotFound: no block store, or an empty
  // one.
  static absl::StatusOr<Tm2BlockStore> Open(const storage::Reader* db, std::string name);

  // A killed node may have this block only here.
  int64_t height() const { return height_; }
  // kNotFound above `height`; kDataLoss where meta, parts and hashes do not fit together.
  absl::StatusOr<Tm2Header> LoadHeader(int64_t height) const;
  absl::StatusOr<Tm2Block> LoadBlock(int64_t height) const;

 private:
  Tm2BlockStore(const storage::Reader* db, std::string name, int64_t height)
      : db_(db), name_(std::move(name)), height_(height) {}

  absl::StatusOr<Tm2BlockMeta> LoadMeta(int64_t height) const;
  absl::Status Located(int64_t height, const absl::Status& status) const;

  const storage::Reader* db_;
  std::string name_;
  int64_t height_;
};

// A tm2 node's state.db (tm2/pkg/bft/state, store.go). One thread.
class Tm2StateStore {
 public:
  static absl::StatusOr<Tm2StateStore> Open(const storage::Reader* db, std::string name);

  const Tm2State& state() const { return state_; }
  // Nothing where they are not kept.
  absl::StatusOr<std::optional<Tm2Responses>> LoadResponses(int64_t height) const;
  // Those that vote for the block, in their order. kNotFound where they are not kept.
  absl::StatusOr<std::vector<Tm2Validator>> LoadValidators(int64_t height) const;

 private:
  Tm2StateStore(const storage::Reader* db, std::string name, Tm2State state)
      : db_(db), name_(std::move(name)), state_(std::move(state)) {}

  absl::StatusOr<Tm2Validators> LoadValidatorsAt(int64_t height) const;
  absl::Status Located(const std::string& key, const absl::Status& status) const;

  const storage::Reader* db_;
  std::string name_;
  Tm2State state_;
};

}  // namespace blockreplay::replay
