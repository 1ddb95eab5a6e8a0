#include "replay/page/page_files.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiling/profile_file.h"
#include "replay/page/node_phases.h"
#include "replay/recording/file_io.h"

namespace blockreplay::replay {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr size_t kMaxReportBytes = size_t{64} << 20;
constexpr size_t kMaxCsvBytes = size_t{1} << 30;
// Ends of file names that say nothing of what is in the file.
constexpr std::string_view kProfileSuffix = ".pb.gz";

bool IsFile(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

// Where a file is that a run wrote to `recorded`: beside its report, or still there. "" for
// nowhere.
std::string Find(const std::string& folder, const std::string& recorded) {
  if (!folder.empty()) {
    const std::string beside = (fs::path(folder) / fs::path(recorded).filename()).string();
    if (IsFile(beside)) return beside;
  }
  return IsFile(recorded) ? recorded : std::string();
}

std::string Option(const json& report, const char* name) {
  const json::json_pointer path(std::string("/options/") + name);
  if (!report.contains(path) || !report.at(path).is_string()) return "";
  return report.at(path).get<std::string>();
}

std::string ShortName(const std::string& path) {
  std::string name = fs::path(path).filename().string();
  if (name.ends_with(kProfileSuffix)) name.resize(name.size() - kProfileSuffix.size());
  return name;
}

absl::StatusOr<profiling::ProfileView> LoadView(const std::string& path) {
  absl::StatusOr<perftools::profiles::Profile> profile = profiling::ReadProfile(path);
  if (!profile.ok()) return profile.status();
  absl::StatusOr<profiling::ProfileView> view = profiling::ProfileView::Create(*profile);
  if (!view.ok()) {
    return absl::Status(view.status().code(), absl::StrCat(path, ": ", view.status().message()));
  }
  return view;
}

}  // namespace

absl::Status AddProfiles(const std::string& folder, PageRun* run, std::vector<std::string>* notes) {
  for (const char* option : {"cpu_profile", "wall_profile", "heap_profile"}) {
    const std::string recorded = Option(run->report, option);
    if (recorded.empty()) continue;
    const std::string path = Find(folder, recorded);
    if (path.empty()) {
      notes->push_back(absl::StrCat(recorded, " is not there: the page goes without"));
      continue;
    }
    absl::StatusOr<profiling::ProfileView> view = LoadView(path);
    if (!view.ok()) return view.status();
    run->profiles.emplace_back(ShortName(path), *std::move(view));
  }
  return absl::OkStatus();
}

absl::StatusOr<PageRun> LoadPageRun(const std::string& report_path,
                                    std::vector<std::string>* notes) {
  absl::StatusOr<std::string> text = ReadFile(report_path, kMaxReportBytes);
  if (!text.ok()) return text.status();
  PageRun run;
  run.report = json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (absl::Status status = CheckReport(run.report); !status.ok()) {
    return absl::Status(status.code(), absl::StrCat(report_path, ": ", status.message()));
  }
  run.name = fs::path(report_path).stem().string();
  const std::string folder = fs::absolute(report_path).parent_path().string();
  if (const std::string recorded = Option(run.report, "csv"); !recorded.empty()) {
    const std::string path = Find(folder, recorded);
    if (path.empty()) {
      notes->push_back(absl::StrCat(recorded, " is not there: the page goes without"));
    } else {
      absl::StatusOr<std::string> csv = ReadFile(path, kMaxCsvBytes);
      if (!csv.ok()) return csv.status();
      run.csv = *std::move(csv);
    }
  }
  if (absl::Status status = AddProfiles(folder, &run, notes); !status.ok()) return status;
  return run;
}

void DistinguishNames(const std::vector<std::string>& report_paths, std::vector<PageRun>* runs) {
  if (runs->size() != 2 || (*runs)[0].name != (*runs)[1].name) return;
  for (size_t i = 0; i < runs->size(); ++i) {
    (*runs)[i].name = fs::absolute(report_paths[i]).parent_path().filename().string();
  }
  if ((*runs)[0].name != (*runs)[1].name) return;
  (*runs)[0].name = "first";
  (*runs)[1].name = "second";
}

absl::StatusOr<PageNode> LoadPageNode(const std::vector<std::string>& paths) {
  PageNode node;
  for (const std::string& path : paths) {
    absl::StatusOr<std::string> bytes = ReadFile(path, profiling::kMaxProfileBytes);
    if (!bytes.ok()) return bytes.status();
    const json figures = json::parse(*bytes, nullptr, /*allow_exceptions=*/false);
    if (figures.is_object()) {
      if (figures.empty()) {
        return absl::InvalidArgumentError(
            absl::StrCat(path, " has no figures: it is an empty JSON object"));
      }
      if (!node.figures.is_null()) {
        return absl::InvalidArgumentError(
            absl::StrCat(path, " is a second table of figures: one is enough"));
      }
      node.figures = figures;
      continue;
    }
    absl::StatusOr<profiling::ProfileView> view = LoadView(path);
    if (!view.ok()) {
      return absl::Status(
          view.status().code(),
          absl::StrCat(view.status().message(), " (and no JSON object of figures either)"));
    }
    LabelNodePhases(&*view);
    node.profiles.emplace_back(ShortName(path), *std::move(view));
  }
  node.name = ShortName(paths.front());
  if (node.figures.is_object()) {
    const auto name = node.figures.find("name");
    if (name != node.figures.end() && name->is_string()) node.name = name->get<std::string>();
  }
  return node;
}

}  // namespace blockreplay::replay
