#include "replay/recording/delimited_reader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace blockreplay::replay {
namespace {

constexpr size_t kBufferSize = size_t{128} << 10;
constexpr int kMaxVarintBytes = 10;

}  // namespace

DelimitedReader::DelimitedReader(std::unique_ptr<ByteSource> source, std::string name)
    : source_(std::move(source)), name_(std::move(name)), buffer_(kBufferSize, '\0') {}

std::string DelimitedReader::Where() const {
  return absl::StrCat(name_, ": message ", messages_, " at uncompressed offset ", message_offset_);
}

absl::Status DelimitedReader::DataLoss(const std::string& problem) const {
  return absl::DataLossError(absl::StrCat(Where(), ": ", problem));
}

absl::StatusOr<bool> DelimitedReader::Fill() {
  if (begin_ < end_) return true;
  absl::StatusOr<size_t> size = source_->Read(buffer_.data(), buffer_.size());
  if (!size.ok()) return size.status();
  begin_ = 0;
  end_ = *size;
  return end_ > 0;
}

absl::StatusOr<bool> DelimitedReader::Next(std::string* message) {
  message->clear();
  message_offset_ = offset_;
  uint64_t length = 0;
  for (int i = 0;; ++i) {
    absl::StatusOr<bool> more = Fill();
    if (!more.ok()) return more.status();
    if (i == 0) {
      if (!*more) return false;
      ++messages_;
    }
    if (!*more) return DataLoss("the stream ends inside a length prefix");
    const auto byte = static_cast<uint8_t>(buffer_[begin_++]);
    ++offset_;
    if (i == kMaxVarintBytes - 1 && byte > 1) return DataLoss("the length prefix is no varint");
    length |= uint64_t{byte & 0x7fu} << (7 * i);
    if (byte < 0x80) break;
  }
  if (length > kMaxMessageSize) {
    return DataLoss(
        absl::StrCat("its length prefix claims ", length, " bytes, the most is ", kMaxMessageSize));
  }
  while (message->size() < length) {
    absl::StatusOr<bool> more = Fill();
    if (!more.ok()) return more.status();
    if (!*more) {
      return DataLoss(
          absl::StrCat("the stream ends after ", message->size(), " of its ", length, " bytes"));
    }
    const size_t size =
        static_cast<size_t>(std::min<uint64_t>(end_ - begin_, length - message->size()));
    message->append(buffer_, begin_, size);
    begin_ += size;
    offset_ += size;
  }
  return true;
}

}  // namespace blockreplay::replay
