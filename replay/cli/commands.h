#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "absl/status/status.h"

namespace blockreplay::replay {

// Each adds its subcommand to `app`. The subcommand's work is put into `*selected` when it is the
// one on the command line, to be called after parsing: it returns the exit status.
using Command = std::function<int()>;
void AddInfoCommand(CLI::App* app, Command* selected);
void AddCheckCommand(CLI::App* app, Command* selected);

// Prints the one error line and returns the exit status for it.
int ReportError(const absl::Status& status);

}  // namespace blockreplay::replay
