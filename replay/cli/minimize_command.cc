#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_join.h"
#include "replay/cli/commands.h"
#include "replay/cli/exit_status.h"
#include "replay/cli/height_progress.h"
#include "replay/engine/interrupt.h"
#include "replay/minimize/minimize.h"

namespace blockreplay::replay {
namespace {

long long AsLong(int64_t value) { return static_cast<long long>(value); }

void PrintResult(const MinimizeOptions& options, const MinimizeResult& result) {
  const Manifest& manifest = result.manifest;
  std::printf("%s: blocks %lld to %lld of %s, %.2f MB of %.2f MB, digest %s\n",
              options.output.c_str(), AsLong(manifest.first_height), AsLong(manifest.last_height),
              manifest.chain_id.c_str(), static_cast<double>(result.bytes) / 1e6,
              static_cast<double>(result.source_bytes) / 1e6, RecordingDigest(manifest).c_str());
  if (manifest.base) {
    std::printf(
        "base      partial state of height %lld, enough for --exec %s: %lld nodes with %lld keys\n"
        "left out  %lld subtrees with %lld keys\n",
        AsLong(manifest.base->height), NameOf(options.exec), AsLong(result.nodes),
        AsLong(result.keys), AsLong(result.omitted_subtrees), AsLong(result.omitted_keys));
  } else {
    std::printf("base      none: the range starts at genesis\n");
  }
  if (!result.left_out_files.empty()) {
    std::printf("left out  %s\n", absl::StrJoin(result.left_out_files, " ").c_str());
  }
  if (!result.mismatch.empty()) {
    std::printf("\nA block of the range differs, so it is the last one:\n%s",
                result.mismatch.c_str());
  }
}

int Run(const MinimizeOptions& options, bool quiet) {
  const InterruptGuard interrupts;
  HeightProgress progress(quiet);
  bool started = false;
  absl::StatusOr<MinimizeResult> result = Minimize(options, [&](int64_t height) {
    if (InterruptGuard::Received() != 0) return absl::CancelledError("interrupted");
    if (height == 0) return absl::OkStatus();
    if (!std::exchange(started, true)) progress.Start(height, options.to);
    progress.OnHeight(height);
    return absl::OkStatus();
  });
  progress.Finish();
  if (InterruptGuard::Received() != 0 && absl::IsCancelled(result.status())) {
    std::fprintf(stderr, "blockreplay: interrupted; nothing is left of %s\n",
                 options.output.c_str());
    return InterruptGuard::Received() == SIGTERM ? kExitTerminated : kExitInterrupted;
  }
  if (!result.ok()) return ReportError(result.status());
  if (!quiet) PrintResult(options, *result);
  return kExitOk;
}

}  // namespace

void AddMinimizeCommand(CLI::App* app, Command* selected) {
  CLI::App* command = app->add_subcommand(
      "minimize", "Makes a small recording of a range, with only the state that the range needs");
  auto options = std::make_shared<MinimizeOptions>();
  command->add_option("RECORDING", options->recording, "Folder of the recording")->required();
  command->add_option("--from", options->from, "First block of the range")
      ->required()
      ->type_name("H");
  command->add_option("--to", options->to, "Last block of the range")->required()->type_name("H");
  command->add_option("--output,-o", options->output, "Folder of the new recording")
      ->required()
      ->type_name("DIR");
  AddExecOption(command,
                "What run --exec of it must have enough state for: apply, or also what native "
                "execution reads",
                &options->exec);
  command->footer("The recording is replayed up to --to, in a temporary database.");
  auto quiet = std::make_shared<bool>(false);
  command->add_flag("--quiet", *quiet, "Print errors only");
  command->callback([=] { *selected = [=] { return Run(*options, *quiet); }; });
}

}  // namespace blockreplay::replay
