#pragma once

namespace blockreplay::replay {

// Parses the command line, runs the subcommand and returns the exit status. Errors are one line on
// stderr.
int RunCommandLine(int argc, char** argv);

}  // namespace blockreplay::replay
