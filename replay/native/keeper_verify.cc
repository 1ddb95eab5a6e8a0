// keeper_verify RECORDING…: runs the native code of every phase of recordings on the true state and
// prints what differs, for the people who write that code. The state is in memory and has no tree;
// blocks are not verified.

#include <cstdio>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "keeper/optimisations.h"
#include "replay/native/memory_verify.h"

int main(int argc, char** argv) {
  using blockreplay::keeper::Coverage;
  CLI::App app("Compares native execution with recordings, phase by phase");
  std::vector<std::string> recordings;
  blockreplay::replay::MemoryVerifyOptions options;
  bool codec = false;
  app.add_option("recording", recordings, "Recordings")->required();
  app.add_option("--from", options.from, "First height to execute");
  app.add_option("--to", options.to, "Last height");
  app.add_option("--kind", options.verifier.only_kinds,
                 "Only kinds of phases that contain this text (repeatable)");
  app.add_option("--differences", options.verifier.keep_differences,
                 "Differences to print for each kind");
  std::vector<std::string> disable;
  app.add_option("--disable", disable, "Optimisations to switch off")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_flag("--codec", codec,
               "Instead: decode and encode every stored value, and count by type");
  CLI11_PARSE(app, argc, argv);

  const auto off = blockreplay::keeper::ParseOptimisations(disable);
  if (!off.ok()) {
    std::fprintf(stderr, "keeper_verify: %s\n", std::string(off.status().message()).c_str());
    return 1;
  }
  blockreplay::keeper::SwitchOff(*off);

  blockreplay::keeper::thorchain::CodecTable table;
  Coverage total;
  int failures = 0;
  for (const std::string& recording : recordings) {
    absl::Status status;
    if (codec) {
      status = blockreplay::replay::AddRecordingTo(recording, &table);
    } else {
      absl::StatusOr<Coverage> coverage = blockreplay::replay::MemoryVerify(recording, options);
      status = coverage.status();
      if (coverage.ok()) {
        total.Add(*coverage);
        std::printf("== %s\n%s", recording.c_str(), coverage->DifferencesToString().c_str());
      }
    }
    if (!status.ok()) {
      std::fprintf(stderr, "keeper_verify: %s: %s\n", recording.c_str(),
                   std::string(status.message()).c_str());
      ++failures;
    }
  }
  std::printf("%s", codec ? table.ToString().c_str() : total.TableToString().c_str());
  return failures == 0 ? 0 : 1;
}
