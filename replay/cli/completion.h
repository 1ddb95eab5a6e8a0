#pragma once

#include <CLI/CLI.hpp>

#include "replay/import/import_source.h"
#include "replay/import/recording_completion.h"

// What the commands that end with a verified recording have in common.
namespace blockreplay::replay {

struct CompletionArguments {
  CompletionOptions options;
  bool no_verify = false;
  bool quiet = false;
};

// --out, the names, --no-verify, --cache-mb, --threads, --part-blocks and --quiet. `arguments` must
// live until the command runs.
void AddCompletionOptions(CLI::App* command, CompletionArguments* arguments);

// Writes the recording of `source` with progress on stderr and a summary on stdout; returns the
// exit status. An InterruptGuard must be there.
int RunCompletion(const ImportSource& source, const CompletionArguments& arguments);

}  // namespace blockreplay::replay
