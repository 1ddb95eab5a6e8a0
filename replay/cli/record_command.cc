#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/cli/commands.h"
#include "replay/cli/completion.h"
#include "replay/cli/exit_status.h"
#include "replay/engine/interrupt.h"
#include "replay/import/genesis.h"
#include "replay/record/base_choice.h"
#include "replay/record/handshake.h"
#include "replay/record/plugin_server.h"
#include "replay/record/recorded_feed.h"
#include "replay/record/recorder.h"

namespace blockreplay::replay {
namespace {

// As long as a host waits for a plugin to start is a minute; the process before this one ends
// within a second or two.
constexpr absl::Duration kPatience = absl::Seconds(10);

int ServeAsPlugin(const RecorderOptions& options) {
  absl::StatusOr<HandshakeRequest> handshake =
      ReadHandshake([](const char* name) -> std::optional<std::string> {
        const char* const value = std::getenv(name);
        return value == nullptr ? std::nullopt : std::optional<std::string>(value);
      });
  if (!handshake.ok()) return ReportError(handshake.status());
  if (options.dir.empty()) {
    return ReportError(absl::InvalidArgumentError("name the folder to record into: --out DIR"));
  }
  Recorder recorder(options);
  recorder.Open(kPatience);
  const absl::Status status = ServeNode(*handshake, &recorder);
  recorder.Close();
  return status.ok() ? kExitOk : ReportError(status);
}

struct FinishOptions {
  std::string dir;
  std::string genesis;
  BaseRequest base;
  CompletionArguments completion;
};

int Finish(const FinishOptions& options) {
  const InterruptGuard interrupts;
  absl::StatusOr<StreamContents> contents = ReadStream(options.dir);
  if (!contents.ok()) return ReportError(contents.status());
  BaseRequest request = options.base;
  std::optional<Genesis> genesis;
  if (!options.genesis.empty()) {
    absl::StatusOr<Genesis> loaded = LoadGenesis(options.genesis);
    if (!loaded.ok()) return ReportError(loaded.status());
    genesis = *std::move(loaded);
    request.genesis_height = std::max<int64_t>(1, genesis->init_chain.initial_height());
  }
  absl::StatusOr<BaseChoice> choice = ChooseBase(RangesOf(contents->index.parts), request);
  if (!choice.ok()) {
    return ReportError(absl::Status(choice.status().code(),
                                    absl::StrCat(options.dir, ": ", choice.status().message())));
  }
  if (choice->base != nullptr) genesis.reset();
  ImportSource source;
  source.feed = std::make_unique<RecordedFeed>(options.dir, *std::move(contents), choice->range,
                                               std::move(genesis));
  source.base = std::move(choice->base);
  return RunCompletion(source, options.completion);
}

void AddFinishCommand(CLI::App* record, Command* selected) {
  CLI::App* command = record->add_subcommand(
      "finish", "Makes a verified recording of what was recorded; the node may go on meanwhile");
  auto options = std::make_shared<FinishOptions>();
  command->add_option("DIR", options->dir, "The folder that was recorded into")->required();
  command
      ->add_option("--base", options->base.snapshots,
                   "State-sync snapshots: a node's data/snapshots, or a single one. The recording "
                   "begins after the one that makes it longest")
      ->type_name("PATH");
  command
      ->add_option("--genesis", options->genesis,
                   "The chain's genesis document, for a chain recorded from its first block on")
      ->type_name("FILE");
  command->add_option("--from", options->base.from, "First height")->type_name("H");
  command->add_option("--to", options->base.to, "Last height")->type_name("H");
  AddCompletionOptions(command, &options->completion);
  command->callback([=] { *selected = [=] { return Finish(*options); }; });
}

}  // namespace

void AddRecordCommand(CLI::App* app, Command* selected) {
  CLI::App* command = app->add_subcommand(
      "record", "Records a node's blocks while it runs, as its ABCI streaming plugin");
  auto options = std::make_shared<RecorderOptions>();
  command->add_option("--out", options->dir, "Folder to record into; goes on where it ends")
      ->type_name("DIR");
  command
      ->add_option("--chain-id", options->log.names.chain_id,
                   "Chain id, which the node does not tell its plugins")
      ->type_name("ID");
  command
      ->add_option("--application", options->log.names.application_name, "Name of the application")
      ->type_name("NAME");
  command
      ->add_option("--application-version", options->log.names.application_version, "Its version")
      ->type_name("VERSION");
  command->add_option("--blocks-per-part", options->log.blocks_per_part, "Blocks of a file")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40).description(""))
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--sync-every", options->log.sync_every,
                   "Blocks between two syncs to the device; 0: when a file is full. A block "
                   "survives the end of the process in any case")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 40).description(""))
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--compression-level", options->log.compression_level, "zstd level")
      ->check(CLI::Range(1, 19).description(""))
      ->type_name("1..19")
      ->capture_default_str();
  command->add_flag("--ignore-errors", options->ignore_errors,
                    "Tell the node nothing of blocks that could not be recorded, so that it goes "
                    "on even with stop-node-on-err");
  AddFinishCommand(command, selected);
  command->callback([=] {
    if (command->get_subcommands().empty()) {
      *selected = [=] { return ServeAsPlugin(*options); };
    }
  });
}

}  // namespace blockreplay::replay
