#include "storage/snapshot/item_reader.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace blockreplay::storage::snapshot {
namespace {

constexpr size_t kBufferBytes = size_t{256} << 10;
// An item's buffer is given back after an item larger than this, so that one large item does not
// stay.
constexpr size_t kKeptItemBytes = size_t{1} << 20;

}  // namespace

ItemReader::ItemReader(ByteSource* source) : source_(source), buffer_(new char[kBufferBytes]) {
  if (inflateInit(&zlib_) != Z_OK) init_ = absl::ResourceExhaustedError("zlib: inflateInit failed");
}

ItemReader::~ItemReader() {
  if (init_.ok()) inflateEnd(&zlib_);
}

absl::Status ItemReader::Error(const std::string& what) const {
  return absl::DataLossError(absl::StrCat("snapshot item ", items_ + 1, " (byte ", stream_bytes_,
                                          " of the items, near ", source_->Position(),
                                          "): ", what));
}

absl::Status ItemReader::Fill() {
  while (output_.empty() && !stream_ended_) {
    if (zlib_.avail_in == 0) {
      absl::StatusOr<std::string_view> piece = source_->Next();
      if (!piece.ok()) return piece.status();
      if (piece->empty()) return Error("the compressed stream ends too early");
      zlib_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece->data()));
      zlib_.avail_in = static_cast<uInt>(piece->size());
    }
    zlib_.next_out = reinterpret_cast<Bytef*>(buffer_.get());
    zlib_.avail_out = kBufferBytes;
    const int result = inflate(&zlib_, Z_NO_FLUSH);
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
      return Error(absl::StrCat("not a zlib stream: ",
                                zlib_.msg != nullptr ? zlib_.msg : absl::StrCat("error ", result)));
    }
    output_ = std::string_view(buffer_.get(), kBufferBytes - zlib_.avail_out);
    stream_ended_ = result == Z_STREAM_END;
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> ItemReader::ReadLength(bool* at_end) {
  *at_end = false;
  uint64_t length = 0;
  for (int i = 0; i < 10; ++i) {
    absl::Status status = Fill();
    if (!status.ok()) return status;
    if (output_.empty()) {
      if (i > 0) return Error("the items end within a length");
      *at_end = true;
      return 0;
    }
    const auto byte = static_cast<uint8_t>(output_.front());
    output_.remove_prefix(1);
    ++stream_bytes_;
    if (i == 9 && byte > 1) break;
    length |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) return length;
  }
  return Error("the length does not fit 64 bits");
}

absl::StatusOr<const SnapshotItem*> ItemReader::Next() {
  if (!init_.ok()) return init_;
  bool at_end = false;
  absl::StatusOr<uint64_t> length = ReadLength(&at_end);
  if (!length.ok()) return length.status();
  if (at_end) {
    absl::StatusOr<std::string_view> rest = source_->Next();
    if (!rest.ok()) return rest.status();
    if (zlib_.avail_in != 0 || !rest->empty())
      return Error("bytes after the end of the zlib stream");
    return nullptr;
  }
  if (*length > kMaxItemBytes) {
    return Error(absl::StrCat("an item of ", *length, " bytes; the limit is ", kMaxItemBytes));
  }

  std::string_view bytes;
  if (output_.size() >= *length) {
    bytes = output_.substr(0, *length);
    output_.remove_prefix(*length);
  } else {
    if (item_bytes_.capacity() > kKeptItemBytes) item_bytes_ = std::string();
    item_bytes_.clear();
    while (item_bytes_.size() < *length) {
      absl::Status status = Fill();
      if (!status.ok()) return status;
      if (output_.empty()) {
        return Error(
            absl::StrCat("the items end ", item_bytes_.size(), " bytes into an item of ", *length));
      }
      const size_t take =
          std::min(output_.size(), static_cast<size_t>(*length) - item_bytes_.size());
      item_bytes_.append(output_.substr(0, take));
      output_.remove_prefix(take);
    }
    bytes = item_bytes_;
  }
  if (!item_.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Error("not a SnapshotItem message");
  }
  if (item_.item_case() == SnapshotItem::ITEM_NOT_SET) return Error("an item of an unknown kind");
  stream_bytes_ += *length;
  ++items_;
  return &item_;
}

}  // namespace blockreplay::storage::snapshot
