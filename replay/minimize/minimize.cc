#include "replay/minimize/minimize.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "replay/engine/block_replayer.h"
#include "replay/engine/chain_stores.h"
#include "replay/engine/database_dir.h"
#include "replay/engine/replay_state.h"
#include "replay/engine/run_plan.h"
#include "replay/engine/verify_executor.h"
#include "replay/recording/block_source.h"
#include "replay/recording/recording_reader.h"
#include "replay/recording/recording_writer.h"
#include "replay/verify/block_verifier.h"
#include "storage/kv/memory_engine.h"
#include "storage/kv/rocksdb_engine.h"
#include "storage/multistore/partial_state.h"

namespace blockreplay::replay {
namespace {

using Progress = std::function<absl::Status(int64_t height)>;

uint64_t TotalBytes(const Manifest& manifest) {
  uint64_t bytes = 0;
  for (const Manifest::File& file : manifest.files) bytes += file.size;
  return bytes;
}

class Minimizer {
 public:
  Minimizer(const MinimizeOptions& options, RunPlan plan, const Progress& progress)
      : options_(options), plan_(std::move(plan)), progress_(progress) {}

  absl::StatusOr<MinimizeResult> Run() {
    absl::StatusOr<std::unique_ptr<RecordingWriter>> writer =
        RecordingWriter::Create(options_.output, {});
    if (!writer.ok()) return writer.status();
    absl::Status status = Write(writer->get());
    if (status.ok()) return std::move(result_);
    // It was empty or not there.
    std::error_code ignored;
    std::filesystem::remove_all(options_.output, ignored);
    return status;
  }

 private:
  bool from_genesis() const {
    return !plan_.manifest.base && options_.from == plan_.manifest.first_height;
  }

  absl::Status Write(RecordingWriter* writer) {
    Manifest manifest = plan_.manifest;
    manifest.base.reset();
    manifest.partial_base.reset();
    manifest.document["minimized_from"] = {{"digest", plan_.digest},
                                           {"first_height", plan_.manifest.first_height},
                                           {"last_height", plan_.manifest.last_height}};
    last_height_ = options_.to;
    if (!from_genesis()) {
      if (absl::Status status = WriteBase(writer, &manifest); !status.ok()) return status;
    }
    if (absl::Status status = CopyBlocks(writer); !status.ok()) return status;
    absl::StatusOr<Manifest> written = writer->Finish(std::move(manifest));
    if (!written.ok()) return written.status();
    result_.manifest = *std::move(written);
    result_.bytes = TotalBytes(result_.manifest);
    result_.source_bytes = TotalBytes(plan_.manifest);
    for (const Manifest::File& file : plan_.manifest.files) {
      if (!absl::StartsWith(file.name, "blocks") && !absl::StartsWith(file.name, "phases") &&
          !absl::StartsWith(file.name, "snapshot/") && file.name != kPartialBaseName) {
        result_.left_out_files.push_back(file.name);
      }
    }
    return absl::OkStatus();
  }

  absl::Status WriteBase(RecordingWriter* writer, Manifest* manifest) {
    if (plan_.multistore.format != storage::CommitFormat::kSdk) {
      return absl::UnimplementedError(absl::StrCat(
          plan_.manifest.application_name,
          ": a partial base is there for IAVL trees only; a range that starts at genesis needs "
          "none: give --from ",
          plan_.manifest.first_height));
    }
    absl::StatusOr<DatabaseDir> dir = DatabaseDir::CreateTemporary(
        {plan_.digest, plan_.manifest.chain_id, NameOf(plan_.options.persist)});
    if (!dir.ok()) return dir.status();
    BlockSource source(options_.recording, plan_.manifest, plan_.manifest.first_height);
    if (absl::Status status = ReplayToBase(&*dir, &source, manifest); !status.ok()) return status;

    absl::StatusOr<std::unique_ptr<storage::RocksDbEngine>> engine =
        storage::RocksDbEngine::Open(dir->database_path(), {});
    if (!engine.ok()) return engine.status();
    storage::NodeReadEngine reads(engine->get(), options_.from - 1);
    if (absl::Status status = ReplayRange(&reads, &source); !status.ok()) return status;

    manifest->partial_base = Manifest::PartialBase{NameOf(options_.exec)};
    return storage::WritePartialState(
        engine->get(), options_.from - 1,
        [&](std::string_view store, const storage::iavl::NodeId& id) {
          return reads.WasRead(store, id);
        },
        [&](const v1::PartialStateItem& item) {
          Count(item);
          return writer->AppendBaseItem(item);
        });
  }

  void Count(const v1::PartialStateItem& item) {
    if (item.has_node()) {
      ++result_.nodes;
      if (item.node().height() == 0) ++result_.keys;
    } else if (item.has_omitted()) {
      ++result_.omitted_subtrees;
      result_.omitted_keys += item.omitted().size();
    }
  }

  // Brings the database to the state before the range.
  absl::Status ReplayToBase(DatabaseDir* dir, BlockSource* source, Manifest* manifest) {
    absl::StatusOr<std::unique_ptr<ReplayState>> state = ReplayState::Open(
        plan_, dir, [&](const storage::SnapshotProgress&) { return progress_(0); });
    if (!state.ok()) return state.status();
    storage::Multistore* const multistore = (*state)->multistore();
    BlockReplayer replayer(multistore, 1, &clock_, false, nullptr);
    for (int64_t height = plan_.manifest.first_height; height < options_.from; ++height) {
      absl::StatusOr<std::string> mismatch = ReplayNext(source, &replayer);
      if (!mismatch.ok()) return mismatch.status();
      if (!mismatch->empty()) {
        return absl::FailedPreconditionError(
            absl::StrCat("there is no state to start from at ", options_.from,
                         ", because a block before differs: give --from ", height,
                         " or a lower height. ", *mismatch));
      }
    }
    const storage::Hash app_hash = multistore->app_hash();
    manifest->base = Manifest::Base{options_.from - 1, {app_hash.begin(), app_hash.end()}};
    return (*state)->Close();
  }

  // Replays the range over `engine` with nothing in memory at the beginning of each block.
  absl::Status ReplayRange(storage::Engine* engine, BlockSource* source) {
    storage::MultistoreOptions multistore_options = plan_.multistore;
    multistore_options.persistence = storage::Persistence::kEvery;
    multistore_options.fast_nodes = false;
    multistore_options.prune_interval = 0;
    multistore_options.cache_bytes = 0;
    multistore_options.threads = 1;  // NodeReadEngine is read by one
    absl::StatusOr<std::unique_ptr<storage::Multistore>> multistore =
        storage::Multistore::Open(engine, multistore_options);
    if (!multistore.ok()) return multistore.status();
    std::unique_ptr<VerifyExecutor> verifier;
    if (options_.exec != ExecutionMode::kApply) {
      absl::StatusOr<std::unique_ptr<VerifyExecutor>> created =
          VerifyExecutor::Create(options_.recording, plan_.manifest, options_.exec, nullptr);
      if (!created.ok()) return created.status();
      verifier = *std::move(created);
      verifier->StartPass(multistore->get(), &clock_);
    }
    BlockReplayer replayer(multistore->get(), 1, &clock_, false, verifier.get());
    for (int64_t height = options_.from; height <= options_.to; ++height) {
      absl::StatusOr<std::string> mismatch = ReplayNext(source, &replayer);
      if (!mismatch.ok()) return mismatch.status();
      if (!mismatch->empty()) {
        result_.mismatch = *std::move(mismatch);
        last_height_ = height;
        break;
      }
    }
    return absl::OkStatus();
  }

  // What differs from the recording; empty if nothing does.
  absl::StatusOr<std::string> ReplayNext(BlockSource* source, BlockReplayer* replayer) {
    absl::StatusOr<std::unique_ptr<DecodedBlock>> block = source->Next();
    if (!block.ok()) return block.status();
    if (*block == nullptr) return absl::InternalError("the recording ends before its last height");
    const int64_t height = (**block)->height();
    absl::StatusOr<BlockReplayer::Outcome> outcome = replayer->Replay(***block, nullptr);
    if (!outcome.ok()) return outcome.status();
    if (outcome->mismatch) return DescribeMismatch(*outcome->mismatch, ***block);
    source->Recycle(*std::move(block));
    if (absl::Status status = progress_(height); !status.ok()) return status;
    return std::string();
  }

  absl::Status CopyBlocks(RecordingWriter* writer) {
    BlockReader blocks(options_.recording, plan_.manifest);
    absl::Status status = CopyRange<v1::Block>(
        &blocks, [&](const v1::Block& block) { return writer->AppendBlock(block); });
    if (!status.ok() || plan_.manifest.StreamFiles("phases").empty()) return status;
    PhasesReader phases(options_.recording, plan_.manifest);
    return CopyRange<v1::BlockPhases>(
        &phases, [&](const v1::BlockPhases& of_block) { return writer->AppendPhases(of_block); });
  }

  template <typename Message, typename Reader, typename Append>
  absl::Status CopyRange(Reader* reader, const Append& append) {
    Message message;
    do {
      absl::StatusOr<bool> more = reader->Next(&message);
      if (!more.ok()) return more.status();
      if (!*more) return absl::InternalError("the recording ends before its last height");
      if (message.height() < options_.from) continue;
      if (absl::Status status = append(message); !status.ok()) return status;
    } while (message.height() < last_height_);
    return absl::OkStatus();
  }

  const MinimizeOptions& options_;
  const RunPlan plan_;
  const Progress& progress_;
  PhaseClock clock_;
  int64_t last_height_ = 0;
  MinimizeResult result_;
};

}  // namespace

absl::StatusOr<MinimizeResult> Minimize(const MinimizeOptions& options, const Progress& progress) {
  RunOptions run;
  run.recording = options.recording;
  run.from = options.from;
  run.to = options.to;
  run.exec = options.exec;
  absl::StatusOr<RunPlan> plan = PlanRun(run);
  if (!plan.ok()) return plan.status();
  return Minimizer(options, *std::move(plan), progress).Run();
}

absl::Status CheckPartialBase(const std::string& recording_dir, const Manifest& manifest) {
  if (!manifest.partial_base) return absl::OkStatus();
  absl::StatusOr<ChainStores> chain = StoresOf(manifest);
  if (!chain.ok()) return chain.status();
  storage::PartialStateOptions options;
  options.multistore.stores = std::move(chain->stores);
  options.multistore.format = chain->format;
  options.version = manifest.base->height;
  std::copy(manifest.base->app_hash.begin(), manifest.base->app_hash.end(),
            options.expected_app_hash.emplace().begin());
  storage::MemoryEngine engine;
  PartialBaseReader items(recording_dir);
  return storage::RestorePartialState(&engine, options, [&] { return items.Next(); }).status();
}

}  // namespace blockreplay::replay
