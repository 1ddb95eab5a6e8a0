#include "replay/import/recording_completion.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "profiling/process_stats.h"
#include "replay/engine/interrupt.h"
#include "replay/import/disk_space.h"
#include "replay/import/state_replay.h"
#include "replay/recording/file_io.h"
#include "replay/recording/recording_writer.h"
#include "replay/verify/block_verifier.h"
#include "replay/verify/header_hash.h"
#include "replay/verify/results_hash.h"

namespace blockreplay::replay {
namespace {

namespace fs = std::filesystem;

using tendermint::types::Header;

constexpr size_t kHashSize = sizeof(storage::Hash);

nlohmann::json OriginOf(const FeedSource& source, bool verified,
                        const CompletionResult::Checks& checks) {
  nlohmann::json origin = source.details;
  origin["source"] = source.kind;
  origin["chain_id"] = source.chain_id;
  if (!source.node_version.empty()) origin["node_version"] = source.node_version;
  if (!source.genesis_sha256.empty()) origin["genesis_sha256"] = source.genesis_sha256;
  nlohmann::json ranges = nlohmann::json::array();
  nlohmann::json gaps = nlohmann::json::array();
  for (size_t i = 0; i < source.ranges.size(); ++i) {
    ranges.push_back({{"first", source.ranges[i].first}, {"last", source.ranges[i].last}});
    if (i == 0) continue;
    gaps.push_back(
        {{"first", source.ranges[i - 1].last + 1}, {"last", source.ranges[i].first - 1}});
  }
  origin["ranges"] = std::move(ranges);
  origin["gaps"] = std::move(gaps);
  origin["verified"] = verified;
  origin["checks"] = {{"app_hashes", checks.app_hashes},
                      {"header_app_hashes", checks.header_app_hashes},
                      {"header_hashes", checks.header_hashes},
                      {"data_hashes", checks.data_hashes},
                      {"results_hashes", checks.results_hashes}};
  return origin;
}

// The names of the stores as far as the source says them.
std::vector<std::string> StoresOf(const FeedSource& source, const v1::Block& first) {
  std::vector<std::string> stores = source.stores;
  if (stores.empty()) {
    for (const auto& info : first.commit_info().store_infos()) stores.push_back(info.name());
  }
  std::sort(stores.begin(), stores.end());
  return stores;
}

// Removes what was written unless it is kept: the folder itself only if it was made here.
class OutputFolder {
 public:
  explicit OutputFolder(std::string path) : path_(std::move(path)) {
    std::error_code ignored;
    existed_ = fs::exists(path_, ignored);
  }
  ~OutputFolder() {
    if (!owned_) return;
    std::error_code ignored;
    if (!existed_) {
      fs::remove_all(path_, ignored);
      return;
    }
    for (fs::directory_iterator it(path_, ignored), end; it != end; it.increment(ignored)) {
      fs::remove_all(it->path(), ignored);
      if (ignored) break;
    }
  }
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  // From now on what is in it is ours.
  void Own() { owned_ = true; }
  void Keep() { owned_ = false; }

 private:
  const std::string path_;
  bool existed_ = false;
  bool owned_ = false;
};

class Completion {
 public:
  Completion(BlockFeed* feed, const BaseState* base, const CompletionOptions& options,
             CompletionObserver* observer)
      : feed_(feed), base_(base), options_(options), observer_(observer), folder_(options.out) {}

  absl::StatusOr<CompletionResult> Run() {
    absl::Status status = WriteAll();
    if (absl::IsCancelled(status) && InterruptGuard::Received() != 0) {
      result_.outcome = CompletionOutcome::kInterrupted;
      result_.signal = InterruptGuard::Received();
      status = absl::OkStatus();
    }
    if (!status.ok()) return status;
    if (result_.outcome == CompletionOutcome::kComplete) folder_.Keep();
    return std::move(result_);
  }

 private:
  static absl::Status NotInterrupted() {
    return InterruptGuard::Received() == 0 ? absl::OkStatus() : absl::CancelledError("interrupted");
  }
  FeedSource Source() const {
    FeedSource source = feed_->source();
    const SourceNames& names = options_.names;
    if (!names.chain_id.empty()) source.chain_id = names.chain_id;
    if (!names.application_name.empty()) source.application_name = names.application_name;
    if (!names.application_version.empty()) source.application_version = names.application_version;
    if (!names.build_tags.empty()) source.application_details["build_tags"] = names.build_tags;
    if (!names.stores.empty()) source.stores = names.stores;
    return source;
  }
  bool differs() const { return result_.outcome != CompletionOutcome::kComplete; }
  storage::SnapshotProgressCallback BaseProgress(const char* doing) {
    return [this, doing](const storage::SnapshotProgress& progress) {
      observer_->OnBase(doing, progress);
      return NotInterrupted();
    };
  }

  absl::Status WriteAll() {
    const int64_t first = feed_->range().first;
    if (base_ != nullptr && base_->height() != first - 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("the base is the state of height ", base_->height(),
                       ", but the first block is ", first, ": a snapshot of height ", first - 1,
                       " is needed, or blocks from ", base_->height() + 1));
    }
    if (absl::Status status = CheckDisks(); !status.ok()) return status;
    RecordingWriterOptions writer_options;
    writer_options.compression_level = options_.compression_level;
    writer_options.blocks_per_part = options_.blocks_per_part;
    absl::StatusOr<std::unique_ptr<RecordingWriter>> writer =
        RecordingWriter::Create(options_.out, writer_options);
    if (!writer.ok()) return writer.status();
    writer_ = *std::move(writer);
    folder_.Own();
    if (base_ != nullptr) {
      const absl::Status status = base_->in_items() ? WriteBaseItems() : WriteBase();
      if (!status.ok()) return status;
    }
    if (absl::Status status = WriteBlocks(); !status.ok() || differs()) return status;
    return Finish();
  }

  absl::Status CheckDisks() {
    DiskNeed need;
    if (base_ != nullptr) {
      absl::StatusOr<DiskBytes> base = base_->EstimateBytes();
      if (!base.ok()) return base.status();
      need.recording = *base;
    }
    need.recording.likely += feed_->likely_bytes();
    // The replay's database has the keys and values, and hashes besides; up to as much again.
    if (options_.verify) need.scratch = {need.recording.least, 2 * need.recording.likely};
    absl::StatusOr<DiskPlaces> places = FindDiskPlaces(options_.out);
    if (!places.ok()) return absl::OkStatus();  // writing will tell what is wrong
    absl::StatusOr<std::string> warning = CheckDiskSpace(need, *places);
    if (!warning.ok()) return warning.status();
    if (!warning->empty()) observer_->OnWarning(*warning);
    return absl::OkStatus();
  }

  absl::Status WriteBase() {
    const std::string path = options_.out + "/snapshot";
    if (absl::Status status = base_->Write(path, BaseProgress("writing the base")); !status.ok()) {
      return status;
    }
    std::error_code error;
    for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
      if (absl::Status status =
              writer_->AddExistingFile(absl::StrCat("snapshot/", it->path().filename().string()));
          !status.ok()) {
        return status;
      }
    }
    return error ? ErrnoStatus(error.value(), "list", path) : absl::OkStatus();
  }

  absl::Status WriteBaseItems() {
    // It is all there, so it is enough for everything.
    result_.manifest.partial_base = Manifest::PartialBase{"native"};
    storage::SnapshotProgress done;
    const auto progress = BaseProgress("writing the base");
    const absl::Status status = base_->WriteItems([&](const v1::PartialStateItem& item) {
      ++done.items;
      done.bytes += item.ByteSizeLong();
      if (done.items % 1024 == 0) {
        if (absl::Status going_on = progress(done); !going_on.ok()) return going_on;
      }
      return writer_->AppendBaseItem(item);
    });
    return status.ok() ? writer_->CloseBase() : status;
  }

  // One block is held back until the next one's header is known, which says what became of it.
  absl::Status WriteBlocks() {
    FedBlock current;
    absl::StatusOr<bool> more = feed_->Next(&current);
    if (!more.ok()) return more.status();
    if (!*more) return absl::NotFoundError("there is no block to import");
    if (absl::Status status = Start(current.block); !status.ok()) return status;
    FedBlock next;
    while (*more) {
      if (absl::Status status = NotInterrupted(); !status.ok()) return status;
      next.Clear();
      more = feed_->Next(&next);
      if (!more.ok()) return more.status();
      absl::Status status;
      if (*more) {
        if (next.block.height() != current.block.height() + 1) {
          return absl::DataLossError(absl::StrCat("block ", next.block.height(),
                                                  " cannot follow block ", current.block.height()));
        }
        status = Write(&current, next.block.has_header() ? &next.block.header() : nullptr);
      } else {
        absl::StatusOr<std::optional<Header>> header = feed_->HeaderAfterLast();
        if (!header.ok()) return header.status();
        status = Write(&current, *header ? &**header : nullptr);
      }
      if (!status.ok() || differs()) return status;
      std::swap(current, next);
    }
    return absl::OkStatus();
  }

  absl::Status Start(const v1::Block& first) {
    first_ = first.height();
    if (const size_t size = first.header().app_hash().size(); size != 0 && size != kHashSize) {
      return absl::DataLossError(absl::StrCat("block ", first.height(),
                                              ": its header's app hash has ", size, " bytes, not ",
                                              kHashSize));
    }
    const FeedSource source = Source();
    Manifest& manifest = result_.manifest;
    manifest.chain_id = source.chain_id;
    if (manifest.chain_id.empty()) {
      return absl::InvalidArgumentError(
          "the source does not say which chain it is of: name it (--chain-id)");
    }
    manifest.document["application"] = source.application_details;
    manifest.application_name = source.application_name;
    manifest.application_version = source.application_version;
    manifest.first_height = first.height();
    if (base_ == nullptr) {
      manifest.stores = StoresOf(source, first);
      if (!first.has_init_chain()) {
        return absl::InvalidArgumentError(
            absl::StrCat("block ", first.height(),
                         " is not a chain's first one, so a base is needed: the state of height ",
                         first.height() - 1));
      }
      if (manifest.stores.empty()) {
        return absl::InvalidArgumentError(
            "the source does not say which stores the chain has, and there is no snapshot to say "
            "it: name them (--stores)");
      }
    } else {
      if (base_->in_items()) manifest.stores = StoresOf(source, first);
      // The header of the first block has the base's app hash.
      manifest.base = Manifest::Base{base_->height(), first.header().app_hash()};
      if (const std::optional<storage::Hash> known = base_->app_hash()) {
        manifest.base->app_hash.assign(known->begin(), known->end());
      }
    }
    if (!options_.verify) return StartWithoutReplay(source, first);
    const int threads = options_.threads > 0 ? options_.threads
                                             : std::max(1, profiling::GetHostInfo().cores_allowed);
    absl::StatusOr<std::unique_ptr<StateReplay>> replay = StateReplay::Start(
        options_.out, manifest, {options_.cache_mb, threads}, BaseProgress("restoring the base"));
    if (!replay.ok()) return replay.status();
    replay_ = *std::move(replay);
    manifest.stores = replay_->store_names();
    last_app_hash_ = replay_->app_hash();
    if (manifest.base) manifest.base->app_hash = last_app_hash_;
    return CheckFirstHeader(first);
  }

  absl::Status StartWithoutReplay(const FeedSource& source, const v1::Block& first) {
    Manifest& manifest = result_.manifest;
    manifest.stores = StoresOf(source, first);
    if (manifest.stores.empty()) {
      return absl::FailedPreconditionError(
          "without verification the source must say which stores the chain has: name them "
          "(--stores), or leave --no-verify out");
    }
    if (manifest.base && manifest.base->app_hash.empty()) {
      return absl::FailedPreconditionError(
          "the base's app hash is known neither from the source nor from the first block's header: "
          "leave --no-verify out, so that it is computed");
    }
    return absl::OkStatus();
  }

  absl::Status CheckFirstHeader(const v1::Block& first) {
    if (const std::optional<AppHashMismatch> mismatch = CompareHeaderAppHash(first, last_app_hash_);
        mismatch && base_ != nullptr) {
      return absl::DataLossError(
          absl::StrCat("the base is not the state before block ", first.height(),
                       ": its app hash is ", absl::BytesToHexString(mismatch->actual),
                       ", the block's header has ", absl::BytesToHexString(mismatch->expected)));
    }
    return absl::OkStatus();
  }

  void Differ(CompletionOutcome outcome, std::string text) {
    result_.outcome = outcome;
    result_.mismatch = std::move(text);
  }

  // `next`: header of the block after it, null where that is not known.
  absl::Status Write(FedBlock* fed, const Header* next) {
    v1::Block* const block = &fed->block;
    if (absl::Status status = CheckOwnHeader(*block); !status.ok()) return status;
    if (block->app_hash().empty()) {
      block->set_app_hash(!block->response().app_hash().empty() ? block->response().app_hash()
                          : next != nullptr                     ? next->app_hash()
                                                                : std::string());
    }
    if (block->app_hash().empty()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "block ", block->height(),
          ": the source tells its app hash nowhere (response, commit info, next header), and "
          "without one nothing proves the block: ",
          first_ == block->height()
              ? "add --rpc with a server's address, or a folder of its answers"
              : absl::StrCat("end one block earlier (--to ", block->height() - 1,
                             "), or have --rpc tell the header of ", block->height() + 1)));
    }
    if (replay_ != nullptr) {
      if (absl::Status status = Replay(block); !status.ok() || differs()) return status;
    }
    if (next != nullptr) CheckNextHeader(*block, *next);
    if (differs()) return absl::OkStatus();
    if (absl::Status status = writer_->AppendBlock(*block); !status.ok()) return status;
    if (fed->phases) {
      if (absl::Status status = writer_->AppendPhases(*fed->phases); !status.ok()) return status;
    }
    observer_->OnBlock(block->height());
    return absl::OkStatus();
  }

  absl::Status Replay(v1::Block* block) {
    absl::StatusOr<BlockReplayer::Outcome> outcome = replay_->Replay(*block);
    if (!outcome.ok()) {
      return absl::Status(
          outcome.status().code(),
          absl::StrCat(outcome.status().message(),
                       absl::IsInvalidArgument(outcome.status())
                           ? " (an upgrade that adds stores ends a recording: begin another one "
                             "after it)"
                           : ""));
    }
    if (outcome->mismatch) {
      Differ(CompletionOutcome::kAppHashMismatch, DescribeMismatch(*outcome->mismatch, *block));
      return absl::OkStatus();
    }
    ++result_.checks.app_hashes;
    last_app_hash_ = outcome->app_hash;
    if (!block->has_commit_info()) {
      *block->mutable_commit_info() = RecordedCommitInfo(outcome->commit_info);
    }
    return absl::OkStatus();
  }

  // The block's own header against what else is known of the block.
  absl::Status CheckOwnHeader(const v1::Block& block) {
    if (!block.has_header()) return absl::OkStatus();
    const auto wrong = [&](const char* what, const std::string& expected,
                           const std::string& actual) {
      return absl::DataLossError(absl::StrCat(
          "block ", block.height(), ": ", what, " ", absl::BytesToHexString(actual), ", but ",
          absl::BytesToHexString(expected), " is recorded: the source is damaged"));
    };
    if (block.header().height() != block.height()) {
      return absl::DataLossError(absl::StrCat(
          "block ", block.height(), ": its header is of height ", block.header().height()));
    }
    if (!block.request().hash().empty()) {
      if (const std::string hash = RawOf(HeaderHash(block.header()));
          hash != block.request().hash()) {
        return wrong("its header has the hash", block.request().hash(), hash);
      }
      ++result_.checks.header_hashes;
    }
    if (block.has_request() && !block.header().data_hash().empty()) {
      if (const std::string hash = RawOf(DataHash(block.request().txs()));
          hash != block.header().data_hash()) {
        return wrong("its transactions have the hash", block.header().data_hash(), hash);
      }
      ++result_.checks.data_hashes;
    }
    return absl::OkStatus();
  }

  void CheckNextHeader(const v1::Block& block, const Header& header) {
    v1::Block next;
    next.set_height(block.height() + 1);
    *next.mutable_header() = header;
    if (replay_ != nullptr && !header.app_hash().empty()) {
      if (const std::optional<AppHashMismatch> mismatch =
              CompareHeaderAppHash(next, last_app_hash_)) {
        return Differ(CompletionOutcome::kAppHashMismatch, DescribeMismatch(*mismatch, block));
      }
      ++result_.checks.header_app_hashes;
    }
    if (block.has_response() && !header.last_results_hash().empty()) {
      if (const std::optional<ResultsMismatch> mismatch =
              CompareResultsHash(next, block.height(), RawOf(ResultsHash(block.response())))) {
        return Differ(CompletionOutcome::kResultsMismatch, DescribeMismatch(*mismatch));
      }
      ++result_.checks.results_hashes;
    }
  }

  absl::Status Finish() {
    Manifest& manifest = result_.manifest;
    const FeedSource source = Source();
    result_.checks.header_app_hashes += source.checks.header_app_hashes;
    result_.checks.header_hashes += source.checks.header_hashes;
    result_.checks.data_hashes += source.checks.data_hashes;
    result_.checks.results_hashes += source.checks.results_hashes;
    manifest.document["origin"] = OriginOf(source, options_.verify, result_.checks);
    absl::StatusOr<Manifest> finished = writer_->Finish(std::move(manifest));
    if (!finished.ok()) return finished.status();
    result_.manifest = *std::move(finished);
    return absl::OkStatus();
  }

  BlockFeed* const feed_;
  const BaseState* const base_;
  const CompletionOptions& options_;
  CompletionObserver* const observer_;
  CompletionResult result_;
  OutputFolder folder_;
  std::unique_ptr<RecordingWriter> writer_;
  std::unique_ptr<StateReplay> replay_;  // null without verification
  std::string last_app_hash_;            // of the last replayed block, or of the base
  int64_t first_ = 0;                    // first block's height
};

}  // namespace

absl::StatusOr<CompletionResult> CompleteRecording(BlockFeed* feed, const BaseState* base,
                                                   const CompletionOptions& options,
                                                   CompletionObserver* observer) {
  return Completion(feed, base, options, observer).Run();
}

}  // namespace blockreplay::replay
