#include "replay/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "profiling/labels.h"
#include "profiling/process_stats.h"
#include "replay/cli/commands.h"
#include "replay/cli/exit_status.h"
#include "replay/report/version.h"

namespace blockreplay::replay {
namespace {

std::string JoinedArguments(int argc, char** argv) {
  std::string line;
  for (int i = 0; i < argc; ++i) absl::StrAppend(&line, i == 0 ? "" : " ", argv[i]);
  return line;
}

}  // namespace

int ReportError(const absl::Status& status) {
  // One line, whatever a library put into its message.
  const std::string message =
      absl::StrReplaceAll(status.message(), {{"\r\n", " "}, {"\n", " "}, {"\r", " "}});
  std::fprintf(stderr, "blockreplay: error: %s\n", message.c_str());
  return kExitError;
}

int RunCommandLine(int argc, char** argv) {
  CLI::App app(
      "Replays recorded blocks of a chain through its own storage, proves every block by its app "
      "hash,\n"
      "and says where the time and the memory went.",
      "blockreplay");
  app.set_version_flag("--version",
                       absl::StrCat("blockreplay ", ToolVersion(), " (", ToolRevision(), ")"));
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);

  // Counts from here on; where the machine does not let us, reports say null.
  absl::StatusOr<std::unique_ptr<profiling::InstructionCounter>> instructions =
      profiling::InstructionCounter::Open();
  profiling::SetThreadRole("main");

  Command selected;
  const std::string command_line = JoinedArguments(argc, argv);
  const profiling::InstructionCounter* const counter =
      instructions.ok() ? instructions->get() : nullptr;
  AddRunCommand(&app, command_line, counter, &selected);
  AddMempoolCommand(&app, command_line, counter, &selected);
  AddInfoCommand(&app, &selected);
  AddCheckCommand(&app, &selected);
  AddDiffCommand(&app, &selected);
  AddExportCommand(&app, &selected);
  AddImportCommand(&app, &selected);
  AddMinimizeCommand(&app, &selected);
  AddRecordCommand(&app, &selected);
  AddReportCommand(&app, &selected);
  AddProfileCommand(&app, &selected);

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);  // --help, --version
  } catch (const CLI::ParseError& error) {
    return ReportError(
        absl::InvalidArgumentError(absl::StrCat(error.what(), " (try blockreplay --help)")));
  }
  return selected();
}

}  // namespace blockreplay::replay
