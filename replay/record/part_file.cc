#include "replay/record/part_file.h"

#include <fcntl.h>
#include <google/protobuf/io/coded_stream.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/recording/delimited_reader.h"
#include "replay/recording/file_io.h"

namespace blockreplay::replay {
namespace {

// A varint that can stand before a message.
constexpr size_t kMaxPrefix = 10;

class FileSource : public ByteSource {
 public:
  explicit FileSource(InputFile file) : file_(std::move(file)) {}
  absl::StatusOr<size_t> Read(char* buffer, size_t capacity) override {
    return file_.Read(buffer, capacity);
  }

 private:
  InputFile file_;
};

}  // namespace

PartReader::PartReader(std::unique_ptr<ByteSource> source, std::string name)
    : source_(std::move(source)),
      name_(std::move(name)),
      context_(ZSTD_createDCtx()),
      input_(ZSTD_DStreamInSize(), '\0') {}

absl::StatusOr<std::unique_ptr<PartReader>> PartReader::Open(const std::string& path) {
  absl::StatusOr<InputFile> file = InputFile::Open(path);
  if (!file.ok()) return file.status();
  return std::make_unique<PartReader>(std::make_unique<FileSource>(*std::move(file)), path);
}

absl::Status PartReader::DataLoss(std::string_view problem) const {
  return absl::DataLossError(absl::StrCat(name_, ": at offset ", end_, ": ", std::string(problem)));
}

absl::StatusOr<uint64_t> PartReader::ReadFrame() {
  if (context_ == nullptr) return absl::ResourceExhaustedError("cannot create a zstd decompressor");
  content_.clear();
  uint64_t consumed = 0;
  for (;;) {
    if (next_.pos == next_.size) {
      absl::StatusOr<size_t> size = source_->Read(input_.data(), input_.size());
      if (!size.ok()) return size.status();
      if (*size == 0) {
        if (consumed == 0) return 0;
        return absl::OutOfRangeError(
            absl::StrCat(name_, ": ends inside the frame that begins at offset ", end_));
      }
      next_ = {input_.data(), *size, 0};
    }
    const size_t filled = content_.size();
    content_.resize(filled + ZSTD_DStreamOutSize());
    ZSTD_outBuffer out{content_.data() + filled, content_.size() - filled, 0};
    const size_t before = next_.pos;
    const size_t left = ZSTD_decompressStream(context_.get(), &out, &next_);
    content_.resize(filled + out.pos);
    consumed += next_.pos - before;
    if (ZSTD_isError(left))
      return DataLoss(absl::StrCat("damaged zstd frame (", ZSTD_getErrorName(left), ")"));
    if (content_.size() > DelimitedReader::kMaxMessageSize + kMaxPrefix) {
      return DataLoss("a frame larger than any block of a recording");
    }
    if (left == 0) return consumed;
  }
}

absl::StatusOr<bool> PartReader::Next(v1::Block* block) {
  absl::StatusOr<uint64_t> frame = ReadFrame();
  if (!frame.ok()) return frame.status();
  if (*frame == 0) return false;
  google::protobuf::io::CodedInputStream prefix(reinterpret_cast<const uint8_t*>(content_.data()),
                                                static_cast<int>(content_.size()));
  uint64_t length = 0;
  if (!prefix.ReadVarint64(&length)) return DataLoss("a frame that holds no message");
  const auto size = static_cast<size_t>(prefix.CurrentPosition());
  if (length != content_.size() - size) {
    return DataLoss("a frame that holds more or less than one message");
  }
  block->Clear();
  if (!block->ParseFromArray(content_.data() + size, static_cast<int>(length)) ||
      block->height() <= 0) {
    return DataLoss("a frame that holds no block");
  }
  begin_ = end_;
  end_ += *frame;
  return true;
}

PartWriter::PartWriter(int fd, std::string path, uint64_t size)
    : fd_(fd), path_(std::move(path)), size_(size), context_(ZSTD_createCCtx()) {}

PartWriter::~PartWriter() { ::close(fd_); }

absl::StatusOr<std::unique_ptr<PartWriter>> PartWriter::Open(const std::string& path, uint64_t size,
                                                             int compression_level) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) return ErrnoStatus(errno, "open for writing", path);
  std::unique_ptr<PartWriter> writer(new PartWriter(fd, path, size));
  if (!writer->CutTail()) return ErrnoStatus(errno, "cut", path);
  ZSTD_CCtx* const context = writer->context_.get();
  if (context == nullptr ||
      ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, compression_level)) ||
      ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1))) {
    return absl::ResourceExhaustedError("cannot create a zstd compressor");
  }
  return writer;
}

absl::Status PartWriter::Append(std::string_view message, bool sync) {
  if (damaged_tail_ && !CutTail()) return ErrnoStatus(errno, "cut", path_);
  frame_.resize(ZSTD_compressBound(message.size()));
  const size_t size =
      ZSTD_compress2(context_.get(), frame_.data(), frame_.size(), message.data(), message.size());
  if (ZSTD_isError(size)) {
    return absl::InternalError(absl::StrCat("zstd: ", ZSTD_getErrorName(size)));
  }
  absl::Status status = Write(std::string_view(frame_.data(), size));
  if (status.ok() && sync) status = Sync();
  if (status.ok()) {
    size_ += size;
  } else {
    CutTail();
  }
  return status;
}

bool PartWriter::CutTail() {
  damaged_tail_ = ::ftruncate(fd_, static_cast<off_t>(size_)) != 0;
  return !damaged_tail_;
}

absl::Status PartWriter::Write(std::string_view bytes) {
  uint64_t offset = size_;
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written >= 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
      offset += static_cast<uint64_t>(written);
    } else if (errno != EINTR) {
      return ErrnoStatus(errno, "write", path_);
    }
  }
  return absl::OkStatus();
}

absl::Status PartWriter::Sync() {
  if (::fdatasync(fd_) != 0) return ErrnoStatus(errno, "sync", path_);
  return absl::OkStatus();
}

}  // namespace blockreplay::replay
