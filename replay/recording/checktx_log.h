#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "replay/recording/line_reader.h"
#include "replay/recording/manifest.h"

namespace blockreplay::replay {

inline constexpr char kCheckTxFile[] = "checktx.jsonl.zst";

// What a node answered to one CheckTx.
struct RecordedCheck {
  int64_t state_height = 0;  // the last commit before it
  bool recheck = false;
  int64_t block = 0;  // where the transaction is: a later block, and its place there
  int tx = 0;
  std::string error;  // codespace; empty: it passed
  int64_t gas_wanted = 0;
  int64_t gas_used = 0;
};

// A recording's `checktx.jsonl.zst`: a JSON object a line, in the order in which the node was
// asked. State heights must ascend, blocks lie above them. Errors name file and line. Not
// thread-safe.
class CheckTxLog {
 public:
  // kNotFound if the recording has none.
  static absl::StatusOr<std::unique_ptr<CheckTxLog>> Open(const std::string& recording_dir,
                                                          const Manifest& manifest);

  // False at the end.
  absl::StatusOr<bool> Next(RecordedCheck* check);

 private:
  explicit CheckTxLog(LineReader lines) : lines_(std::move(lines)) {}

  LineReader lines_;
  int64_t last_state_height_ = 0;
  std::string line_;
};

}  // namespace blockreplay::replay
