#include <zstd.h>

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replay/recording/byte_source.h"
#include "replay/recording/file_io.h"

namespace blockreplay::replay {
namespace {

// 128 MiB; the library refuses frames that ask for more before it allocates anything.
constexpr int kMaxWindowLog = 27;

class ZstdFile : public ByteSource {
 public:
  explicit ZstdFile(InputFile file)
      : file_(std::move(file)), context_(ZSTD_createDCtx()), input_(ZSTD_DStreamInSize()) {}
  ~ZstdFile() override { ZSTD_freeDCtx(context_); }

  absl::Status Init() {
    if (context_ == nullptr ||
        ZSTD_isError(ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, kMaxWindowLog))) {
      return absl::ResourceExhaustedError("cannot create a zstd decompressor: out of memory");
    }
    return absl::OkStatus();
  }

  absl::StatusOr<size_t> Read(char* buffer, size_t capacity) override {
    if (!status_.ok()) return status_;
    ZSTD_outBuffer out{buffer, capacity, 0};
    while (out.pos == 0) {
      if (next_.pos == next_.size && !file_ended_) {
        absl::StatusOr<size_t> size = file_.Read(input_.data(), input_.size());
        if (!size.ok()) return status_ = size.status();
        file_offset_ += next_.size;
        next_ = {input_.data(), *size, 0};
        file_ended_ = *size == 0;
      }
      // With the file at its end the library may still hold output back, so it is asked once more.
      const size_t consumed_before = next_.pos;
      if (file_ended_ && inside_frame_ == 0) return 0;
      const size_t result = ZSTD_decompressStream(context_, &out, &next_);
      if (ZSTD_isError(result)) {
        return status_ = absl::DataLossError(
                   absl::StrCat(file_.path(), ": damaged zstd stream near offset ",
                                file_offset_ + next_.pos, " (", ZSTD_getErrorName(result), ")"));
      }
      // A frame has begun once input was taken, and is over when the library says that nothing is
      // left.
      if (result == 0) {
        inside_frame_ = 0;
      } else if (next_.pos != consumed_before || inside_frame_ != 0) {
        inside_frame_ = result;
      }
      if (out.pos == 0 && file_ended_ && inside_frame_ != 0) {
        return status_ = absl::DataLossError(
                   absl::StrCat(file_.path(), ": the zstd stream ends inside a frame at offset ",
                                file_offset_, ": the file is truncated"));
      }
    }
    return out.pos;
  }

 private:
  InputFile file_;
  ZSTD_DCtx* context_;
  std::vector<char> input_;
  ZSTD_inBuffer next_{nullptr, 0, 0};
  size_t file_offset_ = 0;  // of the first byte of input_
  size_t inside_frame_ = 0;
  bool file_ended_ = false;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ByteSource>> OpenZstdFile(const std::string& path) {
  absl::StatusOr<InputFile> file = InputFile::Open(path);
  if (!file.ok()) return file.status();
  auto source = std::make_unique<ZstdFile>(*std::move(file));
  if (absl::Status status = source->Init(); !status.ok()) return status;
  return source;
}

}  // namespace blockreplay::replay
