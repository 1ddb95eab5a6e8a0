#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>

#include "replay/cli/commands.h"
#include "replay/cli/exit_status.h"
#include "replay/minimize/minimize.h"
#include "replay/recording/check.h"
#include "replay/recording/manifest.h"

namespace blockreplay::replay {
namespace {

int Check(const std::string& recording_dir, bool quiet) {
  absl::StatusOr<Manifest> manifest = LoadManifest(recording_dir);
  if (!manifest.ok()) return ReportError(manifest.status());
  const bool show_progress = !quiet && ::isatty(STDERR_FILENO) == 1;
  absl::StatusOr<RecordingContents> contents =
      CheckRecording(recording_dir, *manifest, [&](int64_t blocks) {
        if (!show_progress) return;
        std::fprintf(stderr, "\rchecked %lld of %lld blocks", static_cast<long long>(blocks),
                     static_cast<long long>(manifest->blocks()));
      });
  if (show_progress) std::fprintf(stderr, "\r\x1b[K");
  if (!contents.ok()) return ReportError(contents.status());
  if (absl::Status status = CheckPartialBase(recording_dir, *manifest); !status.ok()) {
    return ReportError(status);
  }
  if (quiet) return kExitOk;

  std::printf("%s is whole: %lld blocks, heights %lld to %lld, digest %s\n", recording_dir.c_str(),
              static_cast<long long>(contents->blocks),
              static_cast<long long>(manifest->first_height),
              static_cast<long long>(manifest->last_height), RecordingDigest(*manifest).c_str());
  std::printf(
      "%lld transactions, %lld of them failed; %lld blocks with store roots, %lld with a header\n",
      static_cast<long long>(contents->transactions),
      static_cast<long long>(contents->failed_transactions),
      static_cast<long long>(contents->blocks_with_commit_info),
      static_cast<long long>(contents->blocks_with_header));
  std::printf("%.1f MB of blocks, in them %.1f MB of keys and values written\n",
              static_cast<double>(contents->block_bytes) / 1e6,
              static_cast<double>(contents->change_set_bytes) / 1e6);
  if (contents->has_phases) {
    std::printf("%lld phases with %lld writes\n", static_cast<long long>(contents->phases),
                static_cast<long long>(contents->phase_writes));
  }
  std::printf("\n%-16s %10s %10s\n", "store", "sets", "deletes");
  for (const auto& [store, writes] : contents->writes_by_store) {
    std::printf("%-16s %10lld %10lld\n", store.c_str(), static_cast<long long>(writes.sets),
                static_cast<long long>(writes.deletes));
  }
  return kExitOk;
}

}  // namespace

void AddCheckCommand(CLI::App* app, Command* selected) {
  CLI::App* command = app->add_subcommand(
      "check",
      "Proves that a recording is whole: manifest, sizes, SHA-256, heights, decodable; 0 or 1");
  auto recording = std::make_shared<std::string>();
  auto quiet = std::make_shared<bool>(false);
  command->add_option("RECORDING", *recording, "Folder of the recording")->required();
  command->add_flag("--quiet", *quiet, "Print errors only");
  command->callback([=] { *selected = [=] { return Check(*recording, *quiet); }; });
}

}  // namespace blockreplay::replay
