#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "profiling/process_stats.h"
#include "replay/engine/options.h"

namespace blockreplay::replay {

// Each adds its subcommand to `app`. The subcommand's work is put into `*selected` when it is the
// one on the command line, to be called after parsing: it returns the exit status.
using Command = std::function<int()>;
void AddInfoCommand(CLI::App* app, Command* selected);
void AddCheckCommand(CLI::App* app, Command* selected);
void AddDiffCommand(CLI::App* app, Command* selected);
void AddExportCommand(CLI::App* app, Command* selected);
void AddImportCommand(CLI::App* app, Command* selected);
void AddMinimizeCommand(CLI::App* app, Command* selected);
void AddRecordCommand(CLI::App* app, Command* selected);
void AddReportCommand(CLI::App* app, Command* selected);
void AddProfileCommand(CLI::App* app, Command* selected);
// `instructions` may be null and must outlive the command, as must nothing else.
void AddRunCommand(CLI::App* app, const std::string& command_line,
                   const profiling::InstructionCounter* instructions, Command* selected);

// As AddRunCommand.
void AddMempoolCommand(CLI::App* app, const std::string& command_line,
                       const profiling::InstructionCounter* instructions, Command* selected);
void AddExecOption(CLI::App* command, const std::string& description, ExecutionMode* mode);
// The options of CheckTx that run and mempool share.
void AddCheckTxOptions(CLI::App* command, std::string* no_memo, int64_t* signature_cache);

// Prints the one error line and returns the exit status for it.
int ReportError(const absl::Status& status);

}  // namespace blockreplay::replay
