#include "storage/snapshot/item_writer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/io/coded_stream.h"

namespace blockreplay::storage::snapshot {
namespace {

constexpr size_t kBufferBytes = size_t{256} << 10;

}  // namespace

ItemWriter::ItemWriter(Sink sink, int compression_level)
    : sink_(std::move(sink)), buffer_(new char[kBufferBytes]) {
  if (deflateInit(&zlib_, compression_level) != Z_OK) {
    init_ = absl::ResourceExhaustedError("zlib: deflateInit failed");
  }
}

ItemWriter::~ItemWriter() {
  if (init_.ok()) deflateEnd(&zlib_);
}

absl::Status ItemWriter::Add(const SnapshotItem& item) {
  const size_t size = item.ByteSizeLong();
  if (size > kMaxItemBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("a snapshot item of ", size, " bytes; readers accept ", kMaxItemBytes));
  }
  item_bytes_.resize(10 + size);
  auto* const begin = reinterpret_cast<uint8_t*>(item_bytes_.data());
  uint8_t* end = google::protobuf::io::CodedOutputStream::WriteVarint64ToArray(size, begin);
  end = item.SerializeWithCachedSizesToArray(end);
  return Deflate({item_bytes_.data(), static_cast<size_t>(end - begin)}, Z_NO_FLUSH);
}

absl::Status ItemWriter::Finish() { return Deflate({}, Z_FINISH); }

absl::Status ItemWriter::Deflate(std::string_view bytes, int flush) {
  if (!init_.ok()) return init_;
  zlib_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  zlib_.avail_in = static_cast<uInt>(bytes.size());
  int result = Z_OK;
  do {
    zlib_.next_out = reinterpret_cast<Bytef*>(buffer_.get());
    zlib_.avail_out = kBufferBytes;
    result = deflate(&zlib_, flush);
    if (result == Z_STREAM_ERROR) return absl::InternalError("zlib: deflate failed");
    const size_t produced = kBufferBytes - zlib_.avail_out;
    if (produced > 0) {
      absl::Status status = sink_(std::string_view(buffer_.get(), produced));
      if (!status.ok()) return status;
    }
  } while (zlib_.avail_out == 0 || (flush == Z_FINISH && result != Z_STREAM_END));
  return absl::OkStatus();
}

}  // namespace blockreplay::storage::snapshot
