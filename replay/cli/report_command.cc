#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replay/cli/commands.h"
#include "replay/cli/exit_status.h"
#include "replay/page/page.h"
#include "replay/page/page_files.h"
#include "replay/recording/file_io.h"
#include "replay/report/version.h"

namespace blockreplay::replay {
namespace {

int WriteReportPage(const std::vector<std::string>& reports, const std::vector<std::string>& beside,
                    const std::string& html) {
  std::vector<std::string> notes;
  std::vector<PageRun> runs;
  for (const std::string& path : reports) {
    absl::StatusOr<PageRun> run = LoadPageRun(path, &notes);
    if (!run.ok()) return ReportError(run.status());
    runs.push_back(*std::move(run));
  }
  DistinguishNames(reports, &runs);
  std::optional<PageNode> node;
  if (!beside.empty()) {
    absl::StatusOr<PageNode> loaded = LoadPageNode(beside);
    if (!loaded.ok()) return ReportError(loaded.status());
    node = *std::move(loaded);
  }
  absl::StatusOr<std::string> page =
      RenderPage(runs, node, {{"version", ToolVersion()}, {"revision", ToolRevision()}});
  if (!page.ok()) return ReportError(page.status());
  if (absl::Status status = WriteFileAtomically(html, *page); !status.ok()) {
    return ReportError(status);
  }
  for (const std::string& note : notes)
    std::fprintf(stderr, "blockreplay: note: %s\n", note.c_str());
  std::printf("page        %s\n", html.c_str());
  return kExitOk;
}

}  // namespace

void AddReportCommand(CLI::App* app, Command* selected) {
  CLI::App* command = app->add_subcommand(
      "report",
      "Makes one self-contained HTML page of a run's report, or of two runs side by side");
  auto reports = std::make_shared<std::vector<std::string>>();
  auto beside = std::make_shared<std::vector<std::string>>();
  auto html = std::make_shared<std::string>();
  command->add_option("REPORT", *reports, "One or two files of --report; the second is what is new")
      ->required()
      ->expected(1, 2);
  command->add_option("--html", *html, "The page to write")->type_name("FILE")->required();
  command
      ->add_option(
          "--beside", *beside,
          "Show a node beside: its pprof profile, or its figures as JSON; both may be given")
      ->allow_extra_args(false)
      ->type_name("FILE");
  command->footer(
      "Profiles and CSV are those that the run wrote: looked for beside the report, then where "
      "they "
      "were written.");
  command->callback([=] { *selected = [=] { return WriteReportPage(*reports, *beside, *html); }; });
}

}  // namespace blockreplay::replay
