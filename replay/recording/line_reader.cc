#include "replay/recording/line_reader.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace blockreplay::replay {
namespace {

constexpr size_t kChunk = size_t{256} << 10;

}  // namespace

LineReader::LineReader(std::unique_ptr<ByteSource> source, std::string name, size_t max_line)
    : source_(std::move(source)), name_(std::move(name)), max_line_(max_line) {}

absl::Status LineReader::Malformed(const std::string& problem) const {
  return absl::DataLossError(absl::StrCat(name_, ": line ", line_number_, ": ", problem));
}

absl::StatusOr<bool> LineReader::Next(std::string* line) {
  line->clear();
  ++line_number_;
  while (true) {
    const size_t end = buffer_.find('\n', position_);
    line->append(buffer_, position_, end == std::string::npos ? end : end - position_);
    if (line->size() > max_line_) {
      return Malformed(absl::StrCat("it is longer than ", max_line_, " bytes"));
    }
    line_ended_ = end != std::string::npos;
    if (line_ended_) {
      position_ = end + 1;
      return true;
    }
    buffer_.resize(kChunk);
    position_ = 0;
    const absl::StatusOr<size_t> size = source_->Read(buffer_.data(), buffer_.size());
    if (!size.ok()) return size.status();
    buffer_.resize(*size);
    if (*size == 0) return !line->empty();
  }
}

}  // namespace blockreplay::replay
