#include <cstdio>
#include <memory>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "keeper/chain.h"
#include "keeper/thorchain/codec_table.h"
#include "replay/cli/commands.h"
#include "replay/cli/exit_status.h"
#include "replay/native/chain_spec.h"
#include "replay/native/memory_verify.h"
#include "replay/recording/check.h"
#include "replay/recording/manifest.h"

namespace blockreplay::replay {
namespace {

void PrintField(const char* name, const std::string& value) {
  std::printf("%-18s %s\n", name, value.c_str());
}

int PrintInfo(const std::string& recording_dir) {
  absl::StatusOr<Manifest> manifest = LoadManifest(recording_dir);
  if (!manifest.ok()) return ReportError(manifest.status());
  PrintField("recording", recording_dir);
  PrintField("format", std::string(kRecordingFormat));
  PrintField("digest", RecordingDigest(*manifest));
  PrintField("chain id", manifest->chain_id);
  PrintField("application", manifest->application_name + " " + manifest->application_version);
  PrintField("heights", std::to_string(manifest->first_height) + " to " +
                            std::to_string(manifest->last_height) + " (" +
                            std::to_string(manifest->blocks()) + " blocks)");
  if (manifest->base) {
    PrintField("starts from",
               (manifest->partial_base ? "partial state at height " : "snapshot at height ") +
                   std::to_string(manifest->base->height) + ", app hash " +
                   absl::BytesToHexString(manifest->base->app_hash));
    if (manifest->partial_base) PrintField("enough for", "--exec " + manifest->partial_base->exec);
  } else {
    PrintField("starts from", "genesis");
  }
  PrintField("final app hash", absl::BytesToHexString(manifest->final_app_hash));
  PrintField("stores", absl::StrJoin(manifest->stores, " "));
  PrintField("phases", manifest->StreamFiles("phases").empty() ? "not recorded" : "recorded");
  const auto notes = manifest->document.find("notes");
  if (notes != manifest->document.end() && notes->is_object()) {
    for (const char* name : {"origin", "source"}) {
      const auto note = notes->find(name);
      if (note != notes->end() && note->is_string()) PrintField(name, note->get<std::string>());
    }
  }
  std::printf("\n%14s  %-64s  %s\n", "bytes", "SHA-256", "file");
  for (const Manifest::File& file : manifest->files) {
    std::printf("%14llu  %s  %s\n", static_cast<unsigned long long>(file.size), file.sha256.c_str(),
                file.name.c_str());
  }
  return kExitOk;
}

int PrintCodecTable(const std::string& recording_dir) {
  absl::StatusOr<Manifest> manifest = LoadManifest(recording_dir);
  if (!manifest.ok()) return ReportError(manifest.status());
  if (manifest->application_name != "thornode") {
    return ReportError(absl::NotFoundError(
        absl::StrCat("the table of stored values is of thornode's; the application is \"",
                     manifest->application_name, "\"")));
  }
  // Asks whether the version is one whose records are known.
  if (auto chain = keeper::NewChain(ChainSpecOf(*manifest)); !chain.ok()) {
    return ReportError(chain.status());
  }
  if (absl::Status status = CheckFilesAndSnapshot(recording_dir, *manifest); !status.ok()) {
    return ReportError(status);
  }
  keeper::thorchain::CodecTable table;
  if (absl::Status status = AddRecordingTo(recording_dir, &table); !status.ok()) {
    return ReportError(status);
  }
  std::fputs(table.ToString().c_str(), stdout);
  std::fflush(stdout);
  if (table.AllEqual()) return kExitOk;
  return ReportError(
      absl::DataLossError(recording_dir +
                          ": some stored values are of unknown type, or are encoded in other bytes "
                          "than are stored; the table names them"));
}

}  // namespace

void AddInfoCommand(CLI::App* app, Command* selected) {
  CLI::App* command = app->add_subcommand(
      "info", "Shows what a recording is, from its manifest (reads no blocks without --codec)");
  auto recording = std::make_shared<std::string>();
  auto codec = std::make_shared<bool>(false);
  command->add_option("RECORDING", *recording, "Folder of the recording")->required();
  command->add_flag("--codec", *codec,
                    "Instead: decode and encode every stored value, and count by type what is "
                    "equal byte for byte");
  command->callback([=] {
    *selected = [=] { return *codec ? PrintCodecTable(*recording) : PrintInfo(*recording); };
  });
}

}  // namespace blockreplay::replay
