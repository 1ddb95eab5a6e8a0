#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "replay/cli/commands.h"
#include "replay/cli/completion.h"
#include "replay/engine/interrupt.h"
#include "replay/import/base_state.h"
#include "replay/import/data_directory.h"
#include "replay/import/import_source.h"
#include "replay/import/joined_feed.h"
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
  CompletionArguments completion;
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
    directory.verify_checksums = options.completion.no_verify;
    directory.cache_mb = std::max<int64_t>(8, options.completion.options.cache_mb / kSourceShare);
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

int Import(const ImportOptions& options) {
  const InterruptGuard interrupts;
  absl::StatusOr<ImportSource> source = OpenSource(options);
  if (!source.ok()) return ReportError(source.status());
  if (!options.base.empty()) {
    absl::StatusOr<std::unique_ptr<BaseState>> base =
        OpenSnapshotBase(options.base, source->feed->range().first - 1);
    if (!base.ok()) return ReportError(base.status());
    source->base = *std::move(base);
  }
  CompletionArguments completion = options.completion;
  // What the source's databases have of it.
  if (!options.home.empty()) {
    completion.options.cache_mb -= completion.options.cache_mb / kSourceShare;
  }
  return RunCompletion(*source, completion);
}

void AddSourceOptions(CLI::App* command, ImportOptions* options) {
  std::vector<CLI::Option*> sources = {
      command
          ->add_option("--home", options->home,
                       "A node's home, its data folder, or a folder with blockstore.db, state.db "
                       "and application.db (gno.land: gnolang.db)")
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

}  // namespace

void AddImportCommand(CLI::App* app, Command* selected) {
  CLI::App* command =
      app->add_subcommand("import", "Makes a verified recording of what a node has on disk");
  auto options = std::make_shared<ImportOptions>();
  AddSourceOptions(command, options.get());
  command
      ->add_option("--base", options->base,
                   "Snapshot of the state before the first block: data/snapshots of a node, a "
                   "folder of one, or an archive of `snapshots dump`")
      ->type_name("PATH");
  command->add_option("--from", options->range.from, "First height (default: the first there is)")
      ->type_name("H");
  command->add_option("--to", options->range.to, "Last height (default: the last there is)")
      ->type_name("H");
  AddCompletionOptions(command, &options->completion);
  command->callback([=] { *selected = [=] { return Import(*options); }; });
}

}  // namespace blockreplay::replay
