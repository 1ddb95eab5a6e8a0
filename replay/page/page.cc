#include "replay/page/page.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "replay/page/assets.h"
#include "replay/page/block_columns.h"
#include "replay/page/profile_data.h"

namespace blockreplay::replay {
namespace {

using nlohmann::json;

// What the page's script takes for granted.
constexpr const char* kNumbers[] = {"/recording/first",
                                    "/recording/last",
                                    "/blocks_verified",
                                    "/blocks_measured",
                                    "/wall_s",
                                    "/block_ms/p50",
                                    "/phase_ms/decode",
                                    "/phase_ms/apply",
                                    "/phase_ms/begin_block",
                                    "/phase_ms/deliver_tx",
                                    "/phase_ms/end_block",
                                    "/phase_ms/hash",
                                    "/phase_ms/commit",
                                    "/phase_ms/other",
                                    "/cpu_s/process",
                                    "/cpu_s/block_execution",
                                    "/cpu_s/commit",
                                    "/cpu_s/compaction",
                                    "/cpu_s/flush",
                                    "/cpu_s/other",
                                    "/host/cores",
                                    "/bytes_written"};
constexpr const char* kTexts[] = {"/recording/digest", "/recording/chain_id", "/tool/revision",
                                  "/outcome", "/app_hash_chain"};

json ProfilesToJson(const std::vector<NamedProfile>& profiles) {
  json result = json::array();
  for (const auto& [name, view] : profiles) result.push_back(ProfileToJson(name, view));
  return result;
}

// JSON that may stand in an HTML script element: there "<" could end the element or begin a
// comment.
std::string ScriptText(const json& data) {
  const std::string text = data.dump(-1, ' ', false, json::error_handler_t::replace);
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    if (c == '<') {
      escaped += "\\u003c";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

struct Slot {
  std::string_view name;
  std::string_view text;
};

// Replaces each "{{name}}" of the template, which has them in the order of `slots`. Only the
// template is searched: what is put in may contain anything.
std::string Fill(std::string_view page, std::initializer_list<Slot> slots) {
  std::string filled;
  for (const Slot& slot : slots) {
    const std::string marker = "{{" + std::string(slot.name) + "}}";
    const size_t begin = page.find(marker);
    filled += page.substr(0, begin);
    filled += slot.text;
    page.remove_prefix(begin + marker.size());
  }
  filled += page;
  return filled;
}

}  // namespace

absl::Status CheckReport(const json& report) {
  const auto missing = [](const char* pointer) {
    return absl::InvalidArgumentError(
        absl::StrCat("not a report of a run (--report): it has no ", pointer + 1));
  };
  if (!report.is_object()) return absl::InvalidArgumentError("not a report of a run (--report)");
  for (const char* pointer : kNumbers) {
    const json::json_pointer path(pointer);
    if (!report.contains(path) || !report.at(path).is_number()) return missing(pointer);
  }
  for (const char* pointer : kTexts) {
    const json::json_pointer path(pointer);
    if (!report.contains(path) || !report.at(path).is_string()) return missing(pointer);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> RenderPage(absl::Span<const PageRun> runs,
                                       const std::optional<PageNode>& node, const json& tool) {
  json run_data = json::array();
  for (const PageRun& run : runs) {
    const auto located = [&](const absl::Status& status) {
      return absl::Status(status.code(), absl::StrCat(run.name, ": ", status.message()));
    };
    if (absl::Status status = CheckReport(run.report); !status.ok()) return located(status);
    BlockColumns blocks;
    if (!run.csv.empty()) {
      absl::StatusOr<BlockColumns> columns = ReadBlockColumns(run.csv);
      if (!columns.ok()) return located(columns.status());
      blocks = *std::move(columns);
    }
    run_data.push_back({{"name", run.name},
                        {"report", run.report},
                        {"blocks", std::move(blocks.columns)},
                        {"blocks_left_out", blocks.rows_left_out},
                        {"profiles", ProfilesToJson(run.profiles)}});
  }
  json data = {{"tool", tool}, {"runs", std::move(run_data)}, {"beside", nullptr}};
  if (node) {
    data["beside"] = {{"name", node->name},
                      {"profiles", ProfilesToJson(node->profiles)},
                      {"figures", node->figures}};
  }
  return Fill(assets::PageHtml(), {{"uplot.css", assets::UplotCss()},
                                   {"page.css", assets::PageCss()},
                                   {"data.json", ScriptText(data)},
                                   {"d3.js", assets::D3Js()},
                                   {"flamegraph.js", assets::FlameGraphJs()},
                                   {"uplot.js", assets::UplotJs()},
                                   {"page.js", assets::PageJs()}});
}

}  // namespace blockreplay::replay
