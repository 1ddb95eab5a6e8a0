#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "replay/import/block_feed.h"
#include "storage/kv/store.h"
#include "tendermint/types/block.pb.h"

namespace blockreplay::replay {

// A node's blockstore.db as CometBFT 0.34, 0.37 and 0.38 keep it: `blockStore` has the range,
// `H:<height>` a BlockMeta, `P:<height>:<index>` the parts of the Block message. (The ordered keys
// that CometBFT 1.0 can be told to use are not read.) What it returns is proven to be the block of
// its hash, which itself is believed. One thread.
class CometBftBlockStore {
 public:
  // `db` must outlive it. `name` stands for it in messages. kNotFound: no block store, or an empty
  // one.
  static absl::StatusOr<CometBftBlockStore> Open(const storage::Reader* db, std::string name);

  // What it says it has; a killed node may have the last block of it only here.
  const HeightRange& range() const { return range_; }

  struct StoredBlock {
    std::string hash;
    tendermint::types::Block block;
  };
  // kNotFound outside of the range and where the block was pruned; kDataLoss where meta, parts and
  // hashes do not fit together.
  absl::StatusOr<StoredBlock> LoadBlock(int64_t height) const;
  // Likewise.
  absl::StatusOr<tendermint::types::Header> LoadHeader(int64_t height) const;

 private:
  CometBftBlockStore(const storage::Reader* db, std::string name, HeightRange range)
      : db_(db), name_(std::move(name)), range_(range) {}

  absl::StatusOr<tendermint::types::BlockMeta> LoadMeta(int64_t height) const;
  absl::Status Located(int64_t height, const absl::Status& status) const;

  const storage::Reader* db_;
  std::string name_;
  HeightRange range_;
};

// The parsing, apart from any database: a BlockMeta whose header has its hash, and a Block message
// of that header. kDataLoss says what is wrong.
absl::StatusOr<tendermint::types::BlockMeta> ParseBlockMeta(const std::string& bytes,
                                                            int64_t height);
absl::StatusOr<tendermint::types::Block> ParseBlock(const std::string& bytes,
                                                    const tendermint::types::BlockMeta& meta);

}  // namespace blockreplay::replay
