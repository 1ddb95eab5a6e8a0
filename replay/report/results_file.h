#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "keeper/chain.h"
#include "replay/recording/file_io.h"

namespace blockreplay::replay {

// A phase as a JSON line, newline included: what native code answered, nothing recorded
// (docs/reports.md). `result` is null for a phase without native code; `index` the transaction's.
std::string ResultLine(int64_t height, keeper::PhaseKind kind, int index, const std::string& name,
                       const keeper::PhaseResult* result);

// Such lines in a file, under a temporary name until it is whole. Not thread-safe.
class ResultsFile {
 public:
  static absl::StatusOr<ResultsFile> Create(const std::string& path);

  // The first error is kept for Finish.
  void Append(const std::string& line);
  // Must be called for the file to appear under its name.
  absl::Status Finish();

 private:
  ResultsFile(OutputFile file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  OutputFile file_;
  std::string path_;
  std::string buffer_;
  absl::Status status_;
};

}  // namespace blockreplay::replay
