#include "replay/import/formats/input_file.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "replay/recording/file_io.h"

namespace blockreplay::replay {
namespace {

constexpr size_t kInputBuffer = size_t{64} << 10;
// The largest window, and the header tells zlib from gzip.
constexpr int kWindowBits = 15 + 32;

class PlainFile : public ByteSource {
 public:
  explicit PlainFile(InputFile file) : file_(std::move(file)) {}
  absl::StatusOr<size_t> Read(char* buffer, size_t capacity) override {
    return file_.Read(buffer, capacity);
  }

 private:
  InputFile file_;
};

class ZlibFile : public ByteSource {
 public:
  explicit ZlibFile(InputFile file) : file_(std::move(file)), input_(kInputBuffer) {}
  ~ZlibFile() override {
    if (initialised_) inflateEnd(&stream_);
  }

  absl::Status Init() {
    if (inflateInit2(&stream_, kWindowBits) != Z_OK) {
      return absl::ResourceExhaustedError("cannot create a zlib decompressor: out of memory");
    }
    initialised_ = true;
    return absl::OkStatus();
  }

  absl::StatusOr<size_t> Read(char* buffer, size_t capacity) override {
    if (!status_.ok()) return status_;
    const auto room =
        static_cast<uInt>(std::min<size_t>(capacity, std::numeric_limits<uInt>::max()));
    stream_.next_out = reinterpret_cast<Bytef*>(buffer);
    stream_.avail_out = room;
    while (stream_.avail_out == room) {
      if (stream_.avail_in == 0) {
        const absl::StatusOr<size_t> size = file_.Read(input_.data(), input_.size());
        if (!size.ok()) return status_ = size.status();
        if (*size == 0 && between_streams_) return 0;
        if (*size == 0) return Damaged("the compressed stream ends early: the file is truncated");
        file_offset_ += *size;
        stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
        stream_.avail_in = static_cast<uInt>(*size);
      }
      if (between_streams_ && started_ && inflateReset(&stream_) != Z_OK) {
        return Damaged("the decompressor cannot be reset");
      }
      started_ = true;
      between_streams_ = false;
      const int result = inflate(&stream_, Z_NO_FLUSH);
      if (result == Z_STREAM_END) {
        between_streams_ = true;
      } else if (result != Z_OK && result != Z_BUF_ERROR) {
        return Damaged(absl::StrCat("damaged zlib stream (",
                                    stream_.msg != nullptr ? stream_.msg : "no reason given", ")"));
      }
    }
    return room - stream_.avail_out;
  }

 private:
  absl::Status Damaged(const std::string& problem) {
    return status_ = absl::DataLossError(absl::StrCat(file_.path(), ": ", problem, " near offset ",
                                                      file_offset_ - stream_.avail_in));
  }

  InputFile file_;
  std::vector<char> input_;
  z_stream stream_{};
  bool initialised_ = false;
  bool started_ = false;
  bool between_streams_ = false;  // the end of one was met; another may follow
  uint64_t file_offset_ = 0;      // behind what is in input_
  absl::Status status_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ByteSource>> OpenInputFile(const std::string& path) {
  if (absl::EndsWith(path, ".zst")) return OpenZstdFile(path);
  absl::StatusOr<InputFile> file = InputFile::Open(path);
  if (!file.ok()) return file.status();
  if (!absl::EndsWith(path, ".zz") && !absl::EndsWith(path, ".gz")) {
    return std::make_unique<PlainFile>(*std::move(file));
  }
  auto source = std::make_unique<ZlibFile>(*std::move(file));
  if (absl::Status status = source->Init(); !status.ok()) return status;
  return source;
}

}  // namespace blockreplay::replay
