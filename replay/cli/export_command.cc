#include <cstdio>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "replay/cli/commands.h"
#include "replay/cli/exit_status.h"
#include "replay/inspect/database.h"
#include "replay/inspect/export.h"

namespace blockreplay::replay {
namespace {

struct ExportOptions {
  std::string source;
  std::string format = "snapshot";
  std::string output;
  std::string store;
  std::string chain_id;
  int64_t since = 0;
};

int Export(const ExportOptions& options) {
  absl::StatusOr<PathAtHeight> path = ParsePathAtHeight(options.source);
  if (!path.ok()) return ReportError(path.status());
  absl::StatusOr<InspectedDatabase> database = InspectedDatabase::Open(path->path);
  if (!database.ok()) return ReportError(database.status());
  const int64_t height = path->height.value_or(database->last_version());
  if (!options.store.empty() && options.format != "json") {
    return ReportError(absl::InvalidArgumentError("--store is for --format json"));
  }
  if (options.format == "json") {
    absl::StatusOr<int64_t> keys = ExportJson(*database, height, options.store, options.output);
    if (!keys.ok()) return ReportError(keys.status());
    if (options.output != "-") {
      std::printf("%s: %lld keys of height %lld\n", options.output.c_str(),
                  static_cast<long long>(*keys), static_cast<long long>(height));
    }
    return kExitOk;
  }
  absl::Status status;
  if (options.format == "snapshot") {
    status = ExportSnapshot(*database, height, options.output);
  } else {
    const std::string chain_id = options.chain_id.empty() ? database->chain_id() : options.chain_id;
    if (chain_id.empty()) {
      return ReportError(absl::InvalidArgumentError(
          absl::StrCat(path->path, " does not say which chain it is of: give --chain-id")));
    }
    status = ExportChangeSets(*database, options.since, height, chain_id, options.output);
  }
  if (!status.ok()) return ReportError(status);
  std::printf("%s: %s of height %lld\n", options.output.c_str(), options.format.c_str(),
              static_cast<long long>(height));
  return kExitOk;
}

}  // namespace

void AddExportCommand(CLI::App* app, Command* selected) {
  CLI::App* command = app->add_subcommand(
      "export", "Writes a state as snapshot or JSON lines, or the writes between versions");
  auto options = std::make_shared<ExportOptions>();
  command->add_option("PATH", options->source, "PATH or PATH@HEIGHT of a database")->required();
  command
      ->add_option(
          "--format", options->format,
          "snapshot (state sync, format 3), json (a line per key), or change-sets (a recording)")
      ->check(CLI::IsMember({"snapshot", "json", "change-sets"}).description(""))
      ->type_name("snapshot|json|change-sets")
      ->capture_default_str();
  command
      ->add_option("--output,-o", options->output,
                   "Folder, or file for json (- is standard output)")
      ->required();
  command->add_option("--store", options->store, "Only this store (json)")->type_name("NAME");
  command->add_option("--since", options->since, "Writes after this height (change-sets)")
      ->type_name("H")
      ->capture_default_str();
  command
      ->add_option("--chain-id", options->chain_id,
                   "Chain id of the recording (change-sets; default: what the database says)")
      ->type_name("ID");
  command->callback([=] { *selected = [=] { return Export(*options); }; });
}

}  // namespace blockreplay::replay
