#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "replay/recording/file_io.h"
#include "replay/stats/run_statistics.h"

namespace blockreplay::replay {

// The names of the columns, and one block's row; both end with a newline. docs/reports.md describes
// them.
std::string CsvHeader();
std::string CsvRow(const BlockRecord& block);

// Writes rows as blocks come, to `path`.tmp; Finish gives the file its name. Not thread-safe.
class CsvFile {
 public:
  static absl::StatusOr<CsvFile> Create(const std::string& path);

  absl::Status Append(const BlockRecord& block);
  absl::Status Finish();

 private:
  CsvFile(OutputFile file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  OutputFile file_;
  std::string path_;
  std::string buffer_;
};

}  // namespace blockreplay::replay
