#include <google/protobuf/stubs/logging.h>

#include "replay/cli/command_line.h"

int main(int argc, char** argv) {
  // Whoever parses says what did not parse. The library's own lines would stand between for every
  // transaction with bytes that are no UTF-8, which the Go node takes.
  google::protobuf::SetLogHandler(nullptr);
  return blockreplay::replay::RunCommandLine(argc, argv);
}
