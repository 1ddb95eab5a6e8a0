#include <algorithm>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "replay/cli/commands.h"
#include "replay/cli/exit_status.h"
#include "replay/cli/height_progress.h"
#include "replay/engine/interrupt.h"
#include "replay/import/base_state.h"
#include "replay/import/data_directory.h"
#include "replay/import/import_source.h"
#include "replay/import/joined_feed.h"
#include "replay/import/recording_completion.h"
#include "replay/import/rpc_blocks.h"
#include "replay/import/writes_source.h"

namespace blockreplay::replay {
namespace {

// Of --cache-mb, the share of the source's databases; the replay has the rest.
constexpr int64_t kSourceShare = 4;

struct ImportOptions {
  // One of the sources.
  std::string home;
  std::string streaming_dir;
  std::string change_sets_dir;
  std::string trace_file;
  std::string recording;
  // Beside one of the last four: an address or a folder, and where to keep what the address tells.
  std::string rpc;
  std::string rpc_keep;
  std::string genesis;
  bool in_use = false;
  // The state before the first block, where the source has none.
  std::string base;
  ImportRange range;
  bool no_verify = false;
  bool quiet = false;
  CompletionOptions completion;
};

class ImportProgress final : public CompletionObserver {
 public:
  ImportProgress(HeightRange range, bool quiet) : range_(range), heights_(quiet) {}
  ~ImportProgress() override { heights_.Finish(); }

  void OnBase(const char* doing, const storage::SnapshotProgress& progress) override {
    if (progress.total_bytes == 0) return;
    heights_.ShowShare(
        doing, static_cast<double>(progress.bytes) / static_cast<double>(progress.total_bytes));
  }
  void OnBlock(int64_t height) override {
    if (std::exchange(started_, true)) {
      heights_.OnHeight(height);
    } else {
      heights_.Start(height, range_.last);
    }
  }

 private:
  const HeightRange range_;
  HeightProgress heights_;
  bool started_ = false;
};

absl::StatusOr<std::unique_ptr<RpcBlocks>> OpenRpc(const ImportOptions& options) {
  if (options.rpc.empty()) return nullptr;
  if (options.rpc.find("://") == std::string::npos) {
    return RpcBlocks::Open(OpenRpcFolder(options.rpc));
  }
  RpcServerOptions server;
  server.cache_dir = options.rpc_keep;
  server.interrupted = [] { return InterruptGuard::Received() != 0; };
  absl::StatusOr<std::unique_ptr<RpcSource>> source = OpenRpcServer(options.rpc, std::move(server));
  if (!source.ok()) return source.status();
  return RpcBlocks::Open(*std::move(source));
}

absl::StatusOr<ImportSource> JoinSources(absl::StatusOr<std::unique_ptr<WritesSource>> writes,
                                         const ImportOptions& options) {
  if (!writes.ok()) return writes.status();
  absl::StatusOr<std::unique_ptr<RpcBlocks>> rpc = OpenRpc(options);
  if (!rpc.ok()) return rpc.status();
  absl::StatusOr<std::unique_ptr<JoinedFeed>> feed =
      JoinedFeed::Create(*std::move(writes), *std::move(rpc), {options.range, options.genesis});
  if (!feed.ok()) return feed.status();
  ImportSource source;
  source.feed = *std::move(feed);
  return source;
}

absl::StatusOr<ImportSource> OpenSource(const ImportOptions& options) {
  if (!options.home.empty()) {
    DataDirectoryOptions directory;
    directory.path = options.home;
    directory.range = options.range;
    directory.genesis = options.genesis;
    directory.allow_in_use = options.in_use;
    directory.cache_mb = std::max<int64_t>(8, options.completion.cache_mb / kSourceShare);
    return OpenDataDirectory(directory);
  }
  if (!options.streaming_dir.empty()) {
    return JoinSources(OpenStreamWrites(options.streaming_dir), options);
  }
  if (!options.change_sets_dir.empty()) {
    return JoinSources(OpenChangeSetWrites(options.change_sets_dir), options);
  }
  if (!options.trace_file.empty()) return JoinSources(OpenTraceWrites(options.trace_file), options);
  if (!options.recording.empty()) {
    return JoinSources(OpenRecordingWrites(options.recording), options);
  }
  return absl::InvalidArgumentError(
      "name a source: --home, --streaming, --change-sets, --trace or --recording");
}

void PrintSummary(const CompletionResult& result, const ImportOptions& options) {
  const Manifest& manifest = result.manifest;
  std::printf("%s: %s, heights %lld to %lld\n", options.completion.out.c_str(),
              manifest.chain_id.c_str(), static_cast<long long>(manifest.first_height),
              static_cast<long long>(manifest.last_height));
  const CompletionResult::Checks& checks = result.checks;
  if (options.no_verify) {
    std::printf("verified    nothing that needs the state (--no-verify)\n");
  } else {
    std::printf("verified    %lld app hashes by replay, %lld of them in the next header too\n",
                static_cast<long long>(checks.app_hashes),
                static_cast<long long>(checks.header_app_hashes));
  }
  std::printf("checked     %lld header hashes, %lld transaction hashes, %lld results hashes\n",
              static_cast<long long>(checks.header_hashes),
              static_cast<long long>(checks.data_hashes),
              static_cast<long long>(checks.results_hashes));
  std::printf("app hash    %s\n", absl::BytesToHexString(manifest.final_app_hash).c_str());
  std::printf("digest      %s\n", RecordingDigest(manifest).c_str());
}

int Import(ImportOptions options) {
  const InterruptGuard interrupts;
  absl::StatusOr<ImportSource> source = OpenSource(options);
  if (!source.ok()) return ReportError(source.status());
  if (!options.base.empty()) {
    absl::StatusOr<std::unique_ptr<SnapshotBase>> base = SnapshotBase::Open(options.base);
    if (!base.ok()) return ReportError(base.status());
    source->base = *std::move(base);
  }
  options.completion.verify = !options.no_verify;
  // What the source's databases have of it.
  if (!options.home.empty()) {
    options.completion.cache_mb -= options.completion.cache_mb / kSourceShare;
  }
  absl::StatusOr<CompletionResult> result;
  {
    ImportProgress progress(source->feed->range(), options.quiet);
    result =
        CompleteRecording(source->feed.get(), source->base.get(), options.completion, &progress);
  }
  if (!result.ok()) return ReportError(result.status());
  switch (result->outcome) {
    case CompletionOutcome::kComplete:
      if (!options.quiet) PrintSummary(*result, options);
      return kExitOk;
    case CompletionOutcome::kAppHashMismatch:
    case CompletionOutcome::kResultsMismatch:
      std::fprintf(stderr, "blockreplay: mismatch: %s", result->mismatch.c_str());
      return result->outcome == CompletionOutcome::kAppHashMismatch ? kExitAppHashMismatch
                                                                    : kExitResultsMismatch;
    case CompletionOutcome::kInterrupted:
      std::fprintf(stderr, "blockreplay: interrupted; nothing is left of %s\n",
                   options.completion.out.c_str());
      return result->signal == SIGTERM ? kExitTerminated : kExitInterrupted;
  }
  return kExitError;
}

void AddSourceOptions(CLI::App* command, ImportOptions* options) {
  std::vector<CLI::Option*> sources = {
      command
          ->add_option("--home", options->home,
                       "A node's home, its data folder, or a folder with blockstore.db, state.db "
                       "and application.db")
          ->type_name("DIR"),
      command
          ->add_option("--streaming", options->streaming_dir,
                       "Files of the file streaming service of SDK 0.46 and 0.47 (block-<H>-data, "
                       "block-<H>-meta)")
          ->type_name("DIR"),
      command
          ->add_option(
              "--change-sets", options->change_sets_dir,
              "Change sets of cronos' changeset dump (<store>/block-<H>[.zz]); needs --rpc")
          ->type_name("DIR"),
      command
          ->add_option("--trace", options->trace_file,
                       "Output of a node's --trace-store (also .gz, .zst); needs --rpc")
          ->type_name("FILE"),
      command
          ->add_option("--recording", options->recording,
                       "A recording, to be completed with headers from --rpc")
          ->type_name("DIR"),
  };
  for (CLI::Option* source : sources) {
    for (CLI::Option* other : sources) {
      if (source != other) source->excludes(other);
    }
  }
  CLI::Option* const rpc =
      command
          ->add_option("--rpc", options->rpc,
                       "Requests, responses and headers from a CometBFT RPC server "
                       "(http://host:port, https://host), or from its answers in a folder "
                       "(block-<H>.json, block_results-<H>.json, …)")
          ->type_name("URL|DIR")
          ->excludes(sources.front());
  command
      ->add_option("--rpc-keep", options->rpc_keep,
                   "Keep the server's answers here, and go on from those that are there")
      ->type_name("DIR")
      ->needs(rpc);
  command
      ->add_option("--genesis", options->genesis,
                   "The chain's genesis document, where the range begins with it (default: the one "
                   "in the home)")
      ->type_name("FILE");
  command->add_flag("--in-use", options->in_use,
                    "Read goleveldb databases that a running node holds");
}

void AddNameOptions(CLI::App* command, SourceNames* names) {
  command->add_option("--chain-id", names->chain_id, "Chain id, where the source has none")
      ->type_name("ID");
  command->add_option("--application", names->application_name, "Name of the application")
      ->type_name("NAME");
  command->add_option("--application-version", names->application_version, "Its version")
      ->type_name("VERSION");
  command
      ->add_option("--stores", names->stores,
                   "Names of all stores, where neither source nor base has them")
      ->delimiter(',')
      ->type_name("NAME,…");
}

}  // namespace

void AddImportCommand(CLI::App* app, Command* selected) {
  CLI::App* command =
      app->add_subcommand("import", "Makes a verified recording of what a node has on disk");
  auto options = std::make_shared<ImportOptions>();
  CompletionOptions* const completion = &options->completion;
  AddSourceOptions(command, options.get());
  command
      ->add_option("--base", options->base,
                   "Snapshot of the state before the first block: a folder as nodes keep it or as "
                   "recordings have it")
      ->type_name("DIR");
  command->add_option("--out,-o", completion->out, "Folder of the recording, new or empty")
      ->type_name("DIR")
      ->required();
  command->add_option("--from", options->range.from, "First height (default: the first there is)")
      ->type_name("H");
  command->add_option("--to", options->range.to, "Last height (default: the last there is)")
      ->type_name("H");
  AddNameOptions(command, &completion->names);
  command->add_flag("--no-verify", options->no_verify,
                    "Do not replay the blocks on the base; app hashes are taken as they come");
  command
      ->add_option("--cache-mb", completion->cache_mb,
                   "Memory for caches of the source and of the replay")
      ->check(CLI::Range(16, 1 << 20).description(""))
      ->type_name("MB")
      ->capture_default_str();
  command->add_option("--threads", completion->threads, "Threads (default: all allowed)")
      ->check(CLI::Range(1, 1024).description(""))
      ->type_name("N");
  command
      ->add_option("--part-blocks", completion->blocks_per_part,
                   "Blocks in each part of the recording; 0: one file")
      ->check(CLI::NonNegativeNumber.description(""))
      ->type_name("N")
      ->capture_default_str();
  command->add_flag("--quiet,-q", options->quiet, "No progress and no summary");
  command->callback([=] { *selected = [=] { return Import(*options); }; });
}

}  // namespace blockreplay::replay
