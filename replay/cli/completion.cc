#include "replay/cli/completion.h"

#include <csignal>
#include <cstdio>
#include <utility>

#include "absl/strings/escaping.h"
#include "replay/cli/commands.h"
#include "replay/cli/exit_status.h"
#include "replay/cli/height_progress.h"

namespace blockreplay::replay {
namespace {

class ShownProgress final : public CompletionObserver {
 public:
  ShownProgress(HeightRange range, bool quiet) : range_(range), quiet_(quiet), heights_(quiet) {}
  ~ShownProgress() override { heights_.Finish(); }

  void OnBase(const char* doing, const storage::SnapshotProgress& progress) override {
    if (progress.total_bytes == 0) return;
    heights_.ShowShare(
        doing, static_cast<double>(progress.bytes) / static_cast<double>(progress.total_bytes));
  }
  void OnWarning(const std::string& text) override {
    if (!quiet_) std::fprintf(stderr, "blockreplay: warning: %s\n", text.c_str());
  }
  void OnBlock(int64_t height) override {
    if (std::exchange(started_, true)) {
      heights_.OnHeight(height);
    } else {
      heights_.Start(height, range_.last);
    }
  }

 private:
  const HeightRange range_;
  const bool quiet_;
  HeightProgress heights_;
  bool started_ = false;
};

void PrintSummary(const CompletionResult& result, const CompletionArguments& arguments) {
  const Manifest& manifest = result.manifest;
  std::printf("%s: %s, heights %lld to %lld\n", arguments.options.out.c_str(),
              manifest.chain_id.c_str(), static_cast<long long>(manifest.first_height),
              static_cast<long long>(manifest.last_height));
  const CompletionResult::Checks& checks = result.checks;
  if (arguments.no_verify) {
    std::printf("verified    nothing that needs the state (--no-verify)\n");
  } else {
    std::printf("verified    %lld app hashes by replay, %lld of them in the next header too\n",
                static_cast<long long>(checks.app_hashes),
                static_cast<long long>(checks.header_app_hashes));
  }
  std::printf("checked     %lld header hashes, %lld transaction hashes, %lld results hashes\n",
              static_cast<long long>(checks.header_hashes),
              static_cast<long long>(checks.data_hashes),
              static_cast<long long>(checks.results_hashes));
  std::printf("app hash    %s\n", absl::BytesToHexString(manifest.final_app_hash).c_str());
  std::printf("digest      %s\n", RecordingDigest(manifest).c_str());
}

void AddNameOptions(CLI::App* command, SourceNames* names) {
  command->add_option("--chain-id", names->chain_id, "Chain id, where the source has none")
      ->type_name("ID");
  command->add_option("--application", names->application_name, "Name of the application")
      ->type_name("NAME");
  command->add_option("--application-version", names->application_version, "Its version")
      ->type_name("VERSION");
  command
      ->add_option("--build-tags", names->build_tags,
                   "Tags that the node was built with, which choose a network's constants")
      ->type_name("TAG,…");
  command
      ->add_option("--stores", names->stores,
                   "Names of all stores, where neither source nor base has them")
      ->delimiter(',')
      ->type_name("NAME,…");
}

}  // namespace

void AddCompletionOptions(CLI::App* command, CompletionArguments* arguments) {
  CompletionOptions* const options = &arguments->options;
  command->add_option("--out,-o", options->out, "Folder of the recording, new or empty")
      ->type_name("DIR")
      ->required();
  AddNameOptions(command, &options->names);
  command->add_flag("--no-verify", arguments->no_verify,
                    "Do not replay the blocks on the base; app hashes are taken as they come");
  command
      ->add_option("--cache-mb", options->cache_mb,
                   "Memory for caches of the source and of the replay")
      ->check(CLI::Range(16, 1 << 20).description(""))
      ->type_name("MB")
      ->capture_default_str();
  command->add_option("--threads", options->threads, "Threads (default: all allowed)")
      ->check(CLI::Range(1, 1024).description(""))
      ->type_name("N");
  command
      ->add_option("--part-blocks", options->blocks_per_part,
                   "Blocks in each part of the recording; 0: one file")
      ->check(CLI::NonNegativeNumber.description(""))
      ->type_name("N")
      ->capture_default_str();
  command->add_flag("--quiet,-q", arguments->quiet, "No progress and no summary");
}

int RunCompletion(const ImportSource& source, const CompletionArguments& arguments) {
  CompletionOptions options = arguments.options;
  options.verify = !arguments.no_verify;
  absl::StatusOr<CompletionResult> result;
  {
    ShownProgress progress(source.feed->range(), arguments.quiet);
    result = CompleteRecording(source.feed.get(), source.base.get(), options, &progress);
  }
  if (!result.ok()) return ReportError(result.status());
  switch (result->outcome) {
    case CompletionOutcome::kComplete:
      if (!arguments.quiet) PrintSummary(*result, arguments);
      return kExitOk;
    case CompletionOutcome::kAppHashMismatch:
    case CompletionOutcome::kResultsMismatch:
      std::fprintf(stderr, "blockreplay: mismatch: %s", result->mismatch.c_str());
      return result->outcome == CompletionOutcome::kAppHashMismatch ? kExitAppHashMismatch
                                                                    : kExitResultsMismatch;
    case CompletionOutcome::kInterrupted:
      std::fprintf(stderr, "blockreplay: interrupted; nothing is left of %s\n",
                   options.out.c_str());
      return result->signal == SIGTERM ? kExitTerminated : kExitInterrupted;
  }
  return kExitError;
}

}  // namespace blockreplay::replay
