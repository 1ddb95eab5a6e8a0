#include "replay/recording/check.h"

#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "blockreplay/v1/recording.pb.h"
#include "cosmos/store/snapshots/v1/snapshot.pb.h"
#include "replay/recording/file_io.h"
#include "replay/recording/recording_reader.h"
#include "replay/recording/sha256.h"

namespace blockreplay::replay {
namespace {

constexpr uint32_t kSnapshotFormat = 3;
constexpr size_t kMaxSnapshotMetadata = size_t{16} << 20;
constexpr int64_t kBlocksBetweenProgress = 100;

absl::Status CheckSnapshot(const std::string& recording_dir, const Manifest& manifest) {
  const std::string path = absl::StrCat(recording_dir, "/snapshot/_snapshot");
  absl::StatusOr<std::string> bytes = ReadFile(path, kMaxSnapshotMetadata);
  if (!bytes.ok()) return bytes.status();
  cosmos::store::snapshots::v1::Snapshot snapshot;
  if (!snapshot.ParseFromString(*bytes)) {
    return absl::DataLossError(absl::StrCat(path, ": not a valid ", snapshot.GetTypeName()));
  }
  if (snapshot.format() != kSnapshotFormat) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": snapshot format ", snapshot.format(),
                                                   ", only ", kSnapshotFormat, " is known"));
  }
  if (snapshot.height() != static_cast<uint64_t>(manifest.base->height)) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": a snapshot of height ", snapshot.height(), ", but the blocks start at ",
        manifest.first_height, " and need the state of ", manifest.base->height));
  }
  if (snapshot.chunks() != static_cast<uint32_t>(snapshot.metadata().chunk_hashes_size())) {
    return absl::DataLossError(absl::StrCat(path, ": ", snapshot.chunks(), " chunks, but ",
                                            snapshot.metadata().chunk_hashes_size(), " hashes"));
  }
  for (uint32_t i = 0; i < snapshot.chunks(); ++i) {
    const std::string name = absl::StrCat("snapshot/", i);
    const Manifest::File* file = manifest.FindFile(name);
    if (file == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": chunk ", i, " of ", snapshot.chunks(),
                                                     " (", name, ") is not in manifest.json"));
    }
    const std::string expected =
        absl::BytesToHexString(snapshot.metadata().chunk_hashes(static_cast<int>(i)));
    if (expected != file->sha256) {
      return absl::DataLossError(absl::StrCat(recording_dir, "/", name, " has SHA-256 ",
                                              file->sha256, ", the snapshot says ", expected,
                                              ": it is not the chunk of this snapshot"));
    }
  }
  return absl::OkStatus();
}

class Checker {
 public:
  Checker(const std::string& recording_dir, const Manifest& manifest)
      : recording_dir_(recording_dir),
        manifest_(manifest),
        stores_(manifest.stores.begin(), manifest.stores.end()) {}

  absl::Status CheckBlock(const v1::Block& block) {
    const bool genesis = !manifest_.base && block.height() == manifest_.first_height;
    if (block.has_init_chain() != genesis) {
      return Invalid(block.height(),
                     genesis ? "init_chain is missing, though the recording has no base"
                             : "has init_chain, which belongs to the first block after genesis");
    }
    if (genesis) {
      contents_.has_init_chain = true;
      if (block.init_chain().chain_id() != manifest_.chain_id) {
        return Invalid(block.height(),
                       absl::StrCat("is of chain \"", block.init_chain().chain_id(),
                                    "\", manifest.json says \"", manifest_.chain_id, "\""));
      }
    }
    if (block.has_header()) {
      ++contents_.blocks_with_header;
      if (block.header().chain_id() != manifest_.chain_id ||
          block.header().height() != block.height()) {
        return Invalid(block.height(),
                       absl::StrCat("its header is of chain \"", block.header().chain_id(),
                                    "\", height ", block.header().height()));
      }
    }
    if (block.request().height() != block.height()) {
      return Invalid(block.height(),
                     absl::StrCat("its request is of height ", block.request().height()));
    }
    if (block.request().txs_size() != block.response().tx_results_size()) {
      return Invalid(block.height(),
                     absl::StrCat("has ", block.request().txs_size(), " transactions, but ",
                                  block.response().tx_results_size(), " results"));
    }
    if (block.app_hash().size() != sizeof(Sha256Digest)) {
      return Invalid(block.height(),
                     absl::StrCat("its app hash has ", block.app_hash().size(), " bytes"));
    }
    // Empty where the source recorded no responses.
    if (!block.response().app_hash().empty() && block.response().app_hash() != block.app_hash()) {
      return Invalid(block.height(),
                     absl::StrCat("app hash ", absl::BytesToHexString(block.app_hash()),
                                  ", but its response has ",
                                  absl::BytesToHexString(block.response().app_hash())));
    }
    for (const cosmos::store::v1beta1::StoreInfo& info : block.commit_info().store_infos()) {
      if (!stores_.contains(info.name())) {
        return Invalid(block.height(), absl::StrCat("its commit info has store \"", info.name(),
                                                    "\", which manifest.json does not list"));
      }
    }
    if (block.has_commit_info()) ++contents_.blocks_with_commit_info;
    for (const cosmos::store::v1beta1::StoreKVPair& write : block.change_set()) {
      if (!stores_.contains(write.store_key())) {
        return Invalid(block.height(), absl::StrCat("writes to store \"", write.store_key(),
                                                    "\", which manifest.json does not list"));
      }
      RecordingContents::StoreWrites& writes = contents_.writes_by_store[write.store_key()];
      ++(write.delete_() ? writes.deletes : writes.sets);
      contents_.change_set_bytes += write.key().size() + write.value().size();
    }
    ++contents_.blocks;
    contents_.transactions += block.request().txs_size();
    for (const tendermint::abci::ExecTxResult& result : block.response().tx_results()) {
      if (result.code() != 0) ++contents_.failed_transactions;
    }
    last_app_hash_ = block.app_hash();
    transactions_of_.push_back(block.request().txs_size());
    return absl::OkStatus();
  }

  absl::Status CheckEnd() const {
    if (last_app_hash_ == manifest_.final_app_hash) return absl::OkStatus();
    return Invalid(manifest_.last_height,
                   absl::StrCat("app hash ", absl::BytesToHexString(last_app_hash_),
                                ", but manifest.json ends with ",
                                absl::BytesToHexString(manifest_.final_app_hash)));
  }

  absl::Status CheckPhases(const v1::BlockPhases& phases) {
    const int transactions =
        transactions_of_[static_cast<size_t>(phases.height() - manifest_.first_height)];
    for (const v1::Phase& phase : phases.phases()) {
      if (!v1::Phase::Kind_IsValid(phase.kind())) {
        return Invalid(phases.height(),
                       absl::StrCat("phase of unknown kind ", static_cast<int>(phase.kind())));
      }
      if (phase.kind() == v1::Phase::TX &&
          (phase.tx_index() < 0 || phase.tx_index() >= transactions)) {
        return Invalid(phases.height(),
                       absl::StrCat("a phase of transaction ", phase.tx_index(), ", but there are ",
                                    transactions, " transactions"));
      }
      contents_.phase_writes += phase.writes_size();
    }
    contents_.phases += phases.phases_size();
    return absl::OkStatus();
  }

  RecordingContents& contents() { return contents_; }

 private:
  absl::Status Invalid(int64_t height, const std::string& problem) const {
    return absl::DataLossError(absl::StrCat(recording_dir_, ": block ", height, ": ", problem));
  }

  const std::string& recording_dir_;
  const Manifest& manifest_;
  std::set<std::string> stores_;
  std::string last_app_hash_;
  std::vector<int> transactions_of_;
  RecordingContents contents_;
};

}  // namespace

absl::Status CheckFilesAndSnapshot(const std::string& recording_dir, const Manifest& manifest) {
  if (absl::Status status = VerifyFiles(recording_dir, manifest); !status.ok()) return status;
  const bool has_snapshot = manifest.base && !manifest.partial_base;
  return has_snapshot ? CheckSnapshot(recording_dir, manifest) : absl::OkStatus();
}

absl::StatusOr<RecordingContents> CheckRecording(
    const std::string& recording_dir, const Manifest& manifest,
    const std::function<void(int64_t blocks)>& progress) {
  if (absl::Status status = CheckFilesAndSnapshot(recording_dir, manifest); !status.ok()) {
    return status;
  }
  Checker checker(recording_dir, manifest);
  RecordingContents& contents = checker.contents();
  BlockReader blocks(recording_dir, manifest);
  v1::Block block;
  for (;;) {
    absl::StatusOr<bool> more = blocks.Next(&block);
    if (!more.ok()) return more.status();
    if (!*more) break;
    contents.block_bytes += blocks.encoded_size();
    if (absl::Status status = checker.CheckBlock(block); !status.ok()) return status;
    if (contents.blocks % kBlocksBetweenProgress == 0) progress(contents.blocks);
  }
  if (absl::Status status = checker.CheckEnd(); !status.ok()) return status;

  contents.has_phases = !manifest.StreamFiles("phases").empty();
  if (contents.has_phases) {
    PhasesReader phases(recording_dir, manifest);
    v1::BlockPhases block_phases;
    for (;;) {
      absl::StatusOr<bool> more = phases.Next(&block_phases);
      if (!more.ok()) return more.status();
      if (!*more) break;
      if (absl::Status status = checker.CheckPhases(block_phases); !status.ok()) return status;
    }
  }
  return std::move(contents);
}

}  // namespace blockreplay::replay
