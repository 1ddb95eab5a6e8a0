#include "replay/recording/recording_writer.h"

#include <zstd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/recording/delimited_message.h"
#include "replay/recording/file_io.h"
#include "replay/recording/sha256.h"

namespace blockreplay::replay {
namespace {

// One file of the recording, hashed as it is written.
class HashedFile {
 public:
  static absl::StatusOr<HashedFile> Create(const std::string& dir, const std::string& name) {
    absl::StatusOr<OutputFile> file = OutputFile::Create(absl::StrCat(dir, "/", name));
    if (!file.ok()) return file.status();
    return HashedFile(*std::move(file), name);
  }

  absl::Status Write(std::string_view bytes) {
    sha_->Update(bytes);
    size_ += bytes.size();
    return file_.Write(bytes);
  }

  absl::StatusOr<Manifest::File> Close() {
    if (absl::Status status = file_.Close(); !status.ok()) return status;
    return Manifest::File{name_, size_, HexOf(sha_->Finish())};
  }

 private:
  HashedFile(OutputFile file, std::string name)
      : file_(std::move(file)), name_(std::move(name)), sha_(std::make_unique<Sha256>()) {}

  OutputFile file_;
  std::string name_;
  uint64_t size_ = 0;
  std::unique_ptr<Sha256> sha_;
};

// A zstd stream of delimited messages.
class MessageFile {
 public:
  static absl::StatusOr<std::unique_ptr<MessageFile>> Create(const std::string& dir,
                                                             const std::string& name, int level) {
    absl::StatusOr<HashedFile> file = HashedFile::Create(dir, name);
    if (!file.ok()) return file.status();
    std::unique_ptr<MessageFile> result(new MessageFile(*std::move(file)));
    if (result->context_ == nullptr ||
        ZSTD_isError(ZSTD_CCtx_setParameter(result->context_, ZSTD_c_compressionLevel, level)) ||
        ZSTD_isError(ZSTD_CCtx_setParameter(result->context_, ZSTD_c_checksumFlag, 1))) {
      return absl::ResourceExhaustedError("cannot create a zstd compressor");
    }
    return result;
  }
  ~MessageFile() { ZSTD_freeCCtx(context_); }

  absl::Status Append(const google::protobuf::MessageLite& message) {
    absl::StatusOr<std::string> bytes = DelimitedMessage(message);
    if (!bytes.ok()) return bytes.status();
    return Compress(*bytes, ZSTD_e_continue);
  }

  absl::StatusOr<Manifest::File> Close() {
    if (absl::Status status = Compress("", ZSTD_e_end); !status.ok()) return status;
    return file_.Close();
  }

 private:
  explicit MessageFile(HashedFile file)
      : file_(std::move(file)), context_(ZSTD_createCCtx()), buffer_(ZSTD_CStreamOutSize(), '\0') {}

  absl::Status Compress(std::string_view bytes, ZSTD_EndDirective directive) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    for (;;) {
      ZSTD_outBuffer out{buffer_.data(), buffer_.size(), 0};
      const size_t left = ZSTD_compressStream2(context_, &out, &in, directive);
      if (ZSTD_isError(left)) {
        return absl::InternalError(absl::StrCat("zstd: ", ZSTD_getErrorName(left)));
      }
      const std::string_view compressed(buffer_.data(), out.pos);
      if (absl::Status status = file_.Write(compressed); !status.ok()) return status;
      const bool done = directive == ZSTD_e_end ? left == 0 : in.pos == in.size;
      if (done) return absl::OkStatus();
    }
  }

  HashedFile file_;
  ZSTD_CCtx* context_;
  std::string buffer_;
};

class RecordingWriterImpl : public RecordingWriter {
 public:
  RecordingWriterImpl(std::string dir, const RecordingWriterOptions& options)
      : dir_(std::move(dir)), options_(options) {}

  absl::Status AppendBlock(const v1::Block& block) override {
    if (last_height_ != 0 && block.height() != last_height_ + 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("block ", block.height(), " cannot follow block ", last_height_));
    }
    if (first_height_ == 0) first_height_ = block.height();
    last_height_ = block.height();
    final_app_hash_ = block.app_hash();
    return Append("blocks", block.height(), block, &blocks_);
  }

  absl::Status AppendPhases(const v1::BlockPhases& phases) override {
    return Append("phases", phases.height(), phases, &phases_);
  }

  absl::Status AppendBaseItem(const v1::PartialStateItem& item) override {
    if (base_.file == nullptr) {
      const std::string name(kPartialBaseName);
      MakeParentOf(name);
      if (absl::Status status = Open(name, &base_); !status.ok()) return status;
    }
    return base_.file->Append(item);
  }

  absl::Status CloseBase() override { return CloseFile(&base_); }

  absl::Status AddFile(const std::string& name, const std::string& source_path) override {
    MakeParentOf(name);
    absl::StatusOr<InputFile> source = InputFile::Open(source_path);
    if (!source.ok()) return source.status();
    absl::StatusOr<HashedFile> file = HashedFile::Create(dir_, name);
    if (!file.ok()) return file.status();
    std::string buffer(size_t{1} << 18, '\0');
    for (;;) {
      absl::StatusOr<size_t> size = source->Read(buffer.data(), buffer.size());
      if (!size.ok()) return size.status();
      if (*size == 0) break;
      if (absl::Status status = file->Write(std::string_view(buffer).substr(0, *size));
          !status.ok()) {
        return status;
      }
    }
    return Add(file->Close());
  }

  absl::Status AddExistingFile(const std::string& name) override {
    const std::string path = absl::StrCat(dir_, "/", name);
    std::error_code error;
    const uint64_t size = std::filesystem::file_size(path, error);
    if (error) return ErrnoStatus(error.value(), "find", path);
    absl::StatusOr<Sha256Digest> digest = Sha256OfFile(path);
    if (!digest.ok()) return digest.status();
    files_.push_back({name, size, HexOf(*digest)});
    return absl::OkStatus();
  }

  absl::StatusOr<Manifest> Finish(Manifest manifest) override {
    if (first_height_ == 0) return absl::FailedPreconditionError("a recording needs a block");
    for (Stream* stream : {&base_, &blocks_, &phases_}) {
      if (absl::Status status = CloseFile(stream); !status.ok()) return status;
    }
    manifest.first_height = first_height_;
    manifest.last_height = last_height_;
    manifest.final_app_hash = final_app_hash_;
    manifest.files = files_;
    std::sort(manifest.files.begin(), manifest.files.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    const std::string path = absl::StrCat(dir_, "/", std::string(kManifestName));
    const std::string text = ManifestToJson(manifest);
    // What was put together must be readable again: better an error here than with the one who gets
    // the recording.
    if (absl::StatusOr<Manifest> parsed = ParseManifest(text, path); !parsed.ok()) {
      return parsed.status();
    }
    if (absl::Status status = WriteFileAtomically(path, text); !status.ok()) return status;
    return manifest;
  }

 private:
  struct Stream {
    std::unique_ptr<MessageFile> file;
    int64_t messages = 0;
  };

  absl::Status Append(const char* stem, int64_t height,
                      const google::protobuf::MessageLite& message, Stream* stream) {
    if (options_.blocks_per_part > 0 && stream->messages % options_.blocks_per_part == 0) {
      if (absl::Status status = CloseFile(stream); !status.ok()) return status;
    }
    if (stream->file == nullptr) {
      const std::string name = options_.blocks_per_part > 0
                                   ? absl::StrCat(stem, "-", height, ".zst")
                                   : absl::StrCat(stem, ".zst");
      if (absl::Status status = Open(name, stream); !status.ok()) return status;
    }
    ++stream->messages;
    return stream->file->Append(message);
  }

  // What cannot be made, creating the file in it reports.
  void MakeParentOf(const std::string& name) {
    std::error_code ignored;
    std::filesystem::create_directories((std::filesystem::path(dir_) / name).parent_path(),
                                        ignored);
  }

  absl::Status Open(const std::string& name, Stream* stream) {
    absl::StatusOr<std::unique_ptr<MessageFile>> file =
        MessageFile::Create(dir_, name, options_.compression_level);
    if (!file.ok()) return file.status();
    stream->file = *std::move(file);
    return absl::OkStatus();
  }

  absl::Status CloseFile(Stream* stream) {
    if (stream->file == nullptr) return absl::OkStatus();
    absl::Status status = Add(stream->file->Close());
    stream->file = nullptr;
    return status;
  }

  absl::Status Add(absl::StatusOr<Manifest::File> file) {
    if (!file.ok()) return file.status();
    files_.push_back(*std::move(file));
    return absl::OkStatus();
  }

  std::string dir_;
  RecordingWriterOptions options_;
  Stream base_;
  Stream blocks_;
  Stream phases_;
  int64_t first_height_ = 0;
  int64_t last_height_ = 0;
  std::string final_app_hash_;
  std::vector<Manifest::File> files_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<RecordingWriter>> RecordingWriter::Create(
    const std::string& dir, const RecordingWriterOptions& options) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) return ErrnoStatus(error.value(), "create folder", dir);
  if (!std::filesystem::is_empty(dir, error) || error) {
    return absl::AlreadyExistsError(absl::StrCat(dir, " is not an empty folder: give a new one"));
  }
  return std::make_unique<RecordingWriterImpl>(dir, options);
}

}  // namespace blockreplay::replay
