#include "replay/page/block_columns.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace blockreplay::replay {
namespace {

using nlohmann::json;

// What the page draws.
constexpr std::string_view kColumns[] = {"pass",          "height",           "txs",
                                         "writes",        "deletes",          "block_ms",
                                         "decode_ms",     "apply_ms",         "begin_block_ms",
                                         "deliver_tx_ms", "end_block_ms",     "hash_ms",
                                         "commit_ms",     "other_ms",         "change_set_bytes",
                                         "bytes_written", "compaction_bytes", "l0_files",
                                         "stalls",        "stall_ms",         "rss_bytes",
                                         "allocations",   "allocated_bytes"};

std::string_view TakeUntil(std::string_view* text, char separator) {
  const size_t end = std::min(text->find(separator), text->size());
  const std::string_view part = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  return part;
}

// A number as JSON has it, integers as such; null for anything else.
json NumberOf(std::string_view text) {
  int64_t integer = 0;
  const char* end = text.data() + text.size();
  if (const auto [stop, error] = std::from_chars(text.data(), end, integer);
      error == std::errc() && stop == end) {
    return integer;
  }
  double number = 0;
  if (const auto [stop, error] = std::from_chars(text.data(), end, number);
      error == std::errc() && stop == end) {
    return number;
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<BlockColumns> ReadBlockColumns(std::string_view csv, size_t max_rows) {
  std::string_view header = TakeUntil(&csv, '\n');
  // By field: the column that it goes into, or none.
  std::vector<std::string> names;
  while (!header.empty()) {
    const std::string_view name = TakeUntil(&header, ',');
    const bool wanted =
        std::find(std::begin(kColumns), std::end(kColumns), name) != std::end(kColumns);
    names.emplace_back(wanted ? name : std::string_view());
  }
  std::vector<json> columns(names.size(), json::array());
  for (const std::string_view name : kColumns) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("line 1 has no column ", std::string(name), ": not a file of --csv"));
    }
  }
  for (size_t row = 0; !csv.empty() && row < max_rows; ++row) {
    std::string_view line = TakeUntil(&csv, '\n');
    for (size_t i = 0; i < names.size(); ++i) {
      const bool last = i + 1 == names.size();
      if (line.empty() || (last && line.find(',') != std::string_view::npos)) {
        return absl::InvalidArgumentError(
            absl::StrCat("line ", row + 2, " does not have ", names.size(), " fields"));
      }
      const std::string_view field = TakeUntil(&line, ',');
      if (names[i].empty()) continue;
      json number = NumberOf(field);
      if (number.is_null()) {
        return absl::InvalidArgumentError(
            absl::StrCat("line ", row + 2, ": ", names[i], " is no number"));
      }
      columns[i].push_back(std::move(number));
    }
  }
  BlockColumns result;
  result.columns = json::object();
  for (size_t i = 0; i < names.size(); ++i) {
    if (!names[i].empty()) result.columns[names[i]] = std::move(columns[i]);
  }
  result.rows_left_out = static_cast<size_t>(std::count(csv.begin(), csv.end(), '\n'));
  return result;
}

}  // namespace blockreplay::replay
