#include "replay/inspect/report_diff.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/recording/file_io.h"

namespace blockreplay::replay {
namespace {

using nlohmann::json;

constexpr size_t kMaxReportSize = size_t{64} << 20;

absl::StatusOr<json> LoadReport(const std::string& path) {
  absl::StatusOr<std::string> text = ReadFile(path, kMaxReportSize);
  if (!text.ok()) return text.status();
  json report = json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!report.is_object() || !report.contains("app_hash_chain") || !report.contains("recording")) {
    return absl::InvalidArgumentError(absl::StrCat(path, " is not a report of a run (--report)"));
  }
  return report;
}

json At(const json& report, const std::string& pointer) {
  const json::json_pointer path(pointer);
  return report.contains(path) ? report.at(path) : json(nullptr);
}

std::string NameOf(std::string pointer) {
  for (char& c : pointer) {
    if (c == '/') c = '.';
  }
  return pointer.substr(1);
}

}  // namespace

absl::StatusOr<ReportDiff> DiffReports(const std::string& left_path,
                                       const std::string& right_path) {
  absl::StatusOr<json> left = LoadReport(left_path);
  if (!left.ok()) return left.status();
  absl::StatusOr<json> right = LoadReport(right_path);
  if (!right.ok()) return right.status();
  ReportDiff diff;
  for (const char* pointer :
       {"/recording/digest", "/recording/first", "/recording/last", "/blocks_verified", "/app_hash",
        "/app_hash_chain", "/digests/events", "/digests/gas", "/digests/codes"}) {
    json a = At(*left, pointer);
    json b = At(*right, pointer);
    if (a != b) diff.results.push_back({NameOf(pointer), std::move(a), std::move(b)});
  }
  for (const char* pointer :
       {"/wall_s", "/block_ms/p50", "/block_ms/p90", "/block_ms/p99", "/cpu_s/process",
        "/cpu_s/block_execution", "/cpu_s/commit", "/cpu_s/compaction", "/cpu_s/flush",
        "/instructions", "/peak_rss_bytes", "/db_bytes", "/bytes_written",
        "/allocations_per_block"}) {
    diff.measurements.push_back({NameOf(pointer), At(*left, pointer), At(*right, pointer)});
  }
  return diff;
}

}  // namespace blockreplay::replay
