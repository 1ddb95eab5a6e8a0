#include "replay/import/tm2_stores.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace blockreplay::replay {
namespace {

// tm2's limits: a block has at most 100 MB, in parts of 64 KiB.
constexpr size_t kMaxBlockSize = size_t{100} << 20;
constexpr int64_t kMaxParts = (kMaxBlockSize >> 16) + 1;

// Validator sets are stored when they change, and every so many blocks.
constexpr int64_t kValidatorsCheckpoint = 100'000;

absl::Status Damaged(std::string problem) { return absl::DataLossError(std::move(problem)); }

}  // namespace

absl::StatusOr<Tm2BlockStore> Tm2BlockStore::Open(const storage::Reader* db, std::string name) {
  std::string bytes;
  const absl::StatusOr<bool> found = db->Get("blockStore", &bytes);
  if (!found.ok()) return found.status();
  if (!*found) {
    return absl::NotFoundError(
        absl::StrCat(name, " is not a block store of tm2 (no key blockStore)"));
  }
  const absl::StatusOr<int64_t> height = ParseTm2BlockStoreHeight(bytes);
  if (!height.ok()) {
    return Damaged(absl::StrCat(name, ": the value of blockStore is ", height.status().message()));
  }
  if (*height == 0) return absl::NotFoundError(absl::StrCat(name, " has no blocks"));
  return Tm2BlockStore(db, std::move(name), *height);
}

absl::Status Tm2BlockStore::Located(int64_t height, const absl::Status& status) const {
  return absl::Status(status.code(),
                      absl::StrCat(name_, ": block ", height, ": ", status.message()));
}

absl::StatusOr<Tm2BlockMeta> Tm2BlockStore::LoadMeta(int64_t height) const {
  std::string bytes;
  const absl::StatusOr<bool> found = db_->Get(absl::StrCat("H:", height), &bytes);
  if (!found.ok()) return found.status();
  if (!*found) {
    return absl::NotFoundError(absl::StrCat("is not there; the store is at ", height_));
  }
  absl::StatusOr<Tm2BlockMeta> meta = ParseTm2BlockMeta(bytes);
  if (!meta.ok()) return meta.status();
  if (meta->header.height != height) {
    return Damaged(absl::StrCat("its header is of height ", meta->header.height));
  }
  if (meta->parts < 1 || meta->parts > kMaxParts) {
    return Damaged(absl::StrCat("it has ", meta->parts, " parts, which no block has"));
  }
  return meta;
}

absl::StatusOr<Tm2Header> Tm2BlockStore::LoadHeader(int64_t height) const {
  absl::StatusOr<Tm2BlockMeta> meta = LoadMeta(height);
  if (!meta.ok()) return Located(height, meta.status());
  return std::move(meta->header);
}

absl::StatusOr<Tm2Block> Tm2BlockStore::LoadBlock(int64_t height) const {
  const absl::StatusOr<Tm2BlockMeta> meta = LoadMeta(height);
  if (!meta.ok()) return Located(height, meta.status());
  std::string bytes;
  std::string value;
  for (int64_t i = 0; i < meta->parts; ++i) {
    const absl::StatusOr<bool> found = db_->Get(absl::StrCat("P:", height, ":", i), &value);
    if (!found.ok()) return Located(height, found.status());
    const absl::StatusOr<std::string_view> part =
        *found ? ParseTm2Part(value, i) : absl::StatusOr<std::string_view>(Damaged("is missing"));
    if (!part.ok()) {
      return Located(height, Damaged(absl::StrCat("part ", i, ": ", part.status().message())));
    }
    if (bytes.size() + part->size() > kMaxBlockSize) {
      return Located(height, Damaged("it is larger than a block may be"));
    }
    bytes += *part;
  }
  absl::StatusOr<Tm2Block> block = ParseTm2Block(bytes);
  if (!block.ok()) return Located(height, block.status());
  if (block->header.hash != meta->header.hash) {
    return Located(height, Damaged("its parts are of another block"));
  }
  return block;
}

absl::StatusOr<Tm2StateStore> Tm2StateStore::Open(const storage::Reader* db, std::string name) {
  std::string bytes;
  const absl::StatusOr<bool> found = db->Get("stateKey", &bytes);
  if (!found.ok()) return found.status();
  if (!*found) {
    return absl::NotFoundError(absl::StrCat(name, " is not a state store of tm2 (no stateKey)"));
  }
  absl::StatusOr<Tm2State> state = ParseTm2State(bytes);
  if (!state.ok()) {
    return Damaged(absl::StrCat(name, ": the value of stateKey is ", state.status().message()));
  }
  return Tm2StateStore(db, std::move(name), *std::move(state));
}

absl::Status Tm2StateStore::Located(const std::string& key, const absl::Status& status) const {
  return absl::Status(status.code(), absl::StrCat(name_, ": ", key, ": ", status.message()));
}

absl::StatusOr<std::optional<Tm2Responses>> Tm2StateStore::LoadResponses(int64_t height) const {
  const std::string key = absl::StrCat("abciResponsesKey:", absl::Hex(height));
  std::string bytes;
  const absl::StatusOr<bool> found = db_->Get(key, &bytes);
  if (!found.ok()) return found.status();
  if (!*found) return std::nullopt;
  absl::StatusOr<Tm2Responses> responses = ParseTm2Responses(bytes);
  if (!responses.ok()) return Located(key, responses.status());
  return *std::move(responses);
}

absl::StatusOr<Tm2Validators> Tm2StateStore::LoadValidatorsAt(int64_t height) const {
  const std::string key = absl::StrCat("validatorsKey:", absl::Hex(height));
  std::string bytes;
  const absl::StatusOr<bool> found = db_->Get(key, &bytes);
  if (!found.ok()) return found.status();
  if (!*found) return Located(key, absl::NotFoundError("the validators are not there"));
  absl::StatusOr<Tm2Validators> validators = ParseTm2Validators(bytes);
  return validators.ok() ? validators : Located(key, validators.status());
}

absl::StatusOr<std::vector<Tm2Validator>> Tm2StateStore::LoadValidators(int64_t height) const {
  absl::StatusOr<Tm2Validators> stored = LoadValidatorsAt(height);
  if (!stored.ok()) return stored.status();
  if (stored->validators.empty()) {
    const int64_t changed = stored->last_changed;
    const int64_t checkpoint = std::max(height - height % kValidatorsCheckpoint, changed);
    stored = LoadValidatorsAt(checkpoint);
    if (stored.ok() && stored->validators.empty()) stored = LoadValidatorsAt(changed);
    if (!stored.ok()) return stored.status();
  }
  return std::move(stored->validators);
}

}  // namespace blockreplay::replay
