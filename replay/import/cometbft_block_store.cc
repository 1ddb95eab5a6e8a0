#include "replay/import/cometbft_block_store.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "replay/verify/header_hash.h"
#include "tendermint/store/types.pb.h"

namespace blockreplay::replay {
namespace {

using tendermint::types::Block;
using tendermint::types::BlockMeta;
using tendermint::types::Header;
using tendermint::types::Part;

// CometBFT's limits (types/params.go): a block has at most 100 MiB, in parts of 64 KiB.
constexpr size_t kMaxBlockSize = size_t{100} << 20;
constexpr size_t kMaxParts = kMaxBlockSize / (size_t{64} << 10) + 1;

absl::Status Damaged(std::string problem) { return absl::DataLossError(std::move(problem)); }

}  // namespace

absl::StatusOr<BlockMeta> ParseBlockMeta(const std::string& bytes, int64_t height) {
  BlockMeta meta;
  if (!meta.ParseFromString(bytes)) return Damaged("not a BlockMeta message");
  if (meta.header().height() != height) {
    return Damaged(absl::StrCat("its header is of height ", meta.header().height()));
  }
  if (const std::string hash = RawOf(HeaderHash(meta.header())); hash != meta.block_id().hash()) {
    return Damaged(absl::StrCat("its header has the hash ", absl::BytesToHexString(hash),
                                ", but the block is filed under ",
                                absl::BytesToHexString(meta.block_id().hash())));
  }
  if (meta.block_id().part_set_header().total() > kMaxParts) {
    return Damaged(absl::StrCat("it has ", meta.block_id().part_set_header().total(),
                                " parts, more than a block may have"));
  }
  return meta;
}

absl::StatusOr<Block> ParseBlock(const std::string& bytes, const BlockMeta& meta) {
  Block block;
  if (!block.ParseFromString(bytes)) return Damaged("its parts are not a Block message");
  if (RawOf(HeaderHash(block.header())) != meta.block_id().hash()) {
    return Damaged("its parts are of another block");
  }
  return block;
}

absl::StatusOr<CometBftBlockStore> CometBftBlockStore::Open(const storage::Reader* db,
                                                            std::string name) {
  std::string bytes;
  absl::StatusOr<bool> found = db->Get("blockStore", &bytes);
  if (!found.ok()) return found.status();
  if (!*found) {
    return absl::NotFoundError(
        absl::StrCat(name, " is not a block store of CometBFT 0.34 to 0.38 (no key blockStore)"));
  }
  tendermint::store::BlockStoreState state;
  if (!state.ParseFromString(bytes)) {
    return Damaged(
        absl::StrCat(name, ": the value of blockStore is not a BlockStoreState message"));
  }
  // Stores of old versions have no base: it is 1 then.
  const HeightRange range{state.base() > 0 ? state.base() : 1, state.height()};
  if (range.last < range.first) return absl::NotFoundError(absl::StrCat(name, " has no blocks"));
  return CometBftBlockStore(db, std::move(name), range);
}

absl::Status CometBftBlockStore::Located(int64_t height, const absl::Status& status) const {
  return absl::Status(status.code(),
                      absl::StrCat(name_, ": block ", height, ": ", status.message()));
}

absl::StatusOr<BlockMeta> CometBftBlockStore::LoadMeta(int64_t height) const {
  std::string bytes;
  absl::StatusOr<bool> found = db_->Get(absl::StrCat("H:", height), &bytes);
  if (!found.ok()) return found.status();
  if (!*found) {
    return absl::NotFoundError(
        absl::StrCat("is not there; the store has ", range_.first, " to ", range_.last));
  }
  return ParseBlockMeta(bytes, height);
}

absl::StatusOr<Header> CometBftBlockStore::LoadHeader(int64_t height) const {
  absl::StatusOr<BlockMeta> meta = LoadMeta(height);
  if (!meta.ok()) return Located(height, meta.status());
  return std::move(*meta->mutable_header());
}

absl::StatusOr<CometBftBlockStore::StoredBlock> CometBftBlockStore::LoadBlock(
    int64_t height) const {
  absl::StatusOr<BlockMeta> meta = LoadMeta(height);
  if (!meta.ok()) return Located(height, meta.status());
  std::string bytes;
  std::string value;
  Part part;
  for (uint32_t i = 0; i < meta->block_id().part_set_header().total(); ++i) {
    absl::StatusOr<bool> found = db_->Get(absl::StrCat("P:", height, ":", i), &value);
    if (!found.ok()) return Located(height, found.status());
    if (!*found || !part.ParseFromString(value) || part.index() != i) {
      return Located(height, Damaged(absl::StrCat("part ", i, " is missing or damaged")));
    }
    if (bytes.size() + part.bytes().size() > kMaxBlockSize) {
      return Located(height, Damaged("it is larger than a block may be"));
    }
    bytes += part.bytes();
  }
  absl::StatusOr<Block> block = ParseBlock(bytes, *meta);
  if (!block.ok()) return Located(height, block.status());
  return StoredBlock{meta->block_id().hash(), *std::move(block)};
}

}  // namespace blockreplay::replay
