#include "replay/report/csv.h"

#include <cerrno>
#include <cstdio>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace blockreplay::replay {
namespace {

constexpr size_t kBufferSize = size_t{64} << 10;

}  // namespace

std::string CsvHeader() {
  std::string csv = "pass,height,txs,writes,deletes,change_set_bytes,block_ms";
  for (const char* phase : kPhaseNames) absl::StrAppend(&csv, ",", phase, "_ms");
  absl::StrAppend(&csv,
                  ",bytes_written,compaction_bytes,l0_files,stalls,stall_ms,rss_bytes,allocations,"
                  "allocated_bytes,app_hash,results_hash\n");
  return csv;
}

std::string CsvRow(const BlockRecord& block) {
  std::string row =
      absl::StrCat(block.pass, ",", block.height, ",", block.txs, ",", block.sets + block.deletes,
                   ",", block.deletes, ",", block.change_set_bytes);
  absl::StrAppendFormat(&row, ",%.6f", static_cast<double>(block.wall_nanos) / 1e6);
  for (const int64_t nanos : block.phase_nanos) {
    absl::StrAppendFormat(&row, ",%.6f", static_cast<double>(nanos) / 1e6);
  }
  absl::StrAppend(&row, ",", block.bytes_written, ",", block.compaction_bytes, ",",
                  block.level0_files, ",", block.stalls);
  absl::StrAppendFormat(&row, ",%.3f", static_cast<double>(block.stall_micros) / 1e3);
  absl::StrAppend(&row, ",", block.rss_bytes, ",", block.allocations, ",", block.allocated_bytes,
                  ",", absl::BytesToHexString(block.app_hash), ",",
                  absl::BytesToHexString(block.results_hash), "\n");
  return row;
}

absl::StatusOr<CsvFile> CsvFile::Create(const std::string& path) {
  absl::StatusOr<OutputFile> file = OutputFile::Create(path + ".tmp");
  if (!file.ok()) return file.status();
  CsvFile csv(*std::move(file), path);
  csv.buffer_ = CsvHeader();
  return csv;
}

absl::Status CsvFile::Append(const BlockRecord& block) {
  buffer_ += CsvRow(block);
  if (buffer_.size() < kBufferSize) return absl::OkStatus();
  absl::Status status = file_.Write(buffer_);
  buffer_.clear();
  return status;
}

absl::Status CsvFile::Finish() {
  if (absl::Status status = file_.Write(buffer_); !status.ok()) return status;
  if (absl::Status status = file_.Close(); !status.ok()) return status;
  if (std::rename(file_.path().c_str(), path_.c_str()) != 0) {
    return ErrnoStatus(errno, "rename a temporary file to", path_);
  }
  return absl::OkStatus();
}

}  // namespace blockreplay::replay
