#include "replay/cli/command_line.h"

int main(int argc, char** argv) { return blockreplay::replay::RunCommandLine(argc, argv); }
