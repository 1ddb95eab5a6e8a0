#include "replay/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "replay/cli/commands.h"
#include "replay/cli/exit_status.h"
#include "replay/report/version.h"

namespace blockreplay::replay {

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

  Command selected;
  AddInfoCommand(&app, &selected);
  AddCheckCommand(&app, &selected);

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
