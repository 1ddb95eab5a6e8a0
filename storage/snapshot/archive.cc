#include "storage/snapshot/archive.h"

#include <zlib.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "storage/snapshot/tar_reader.h"

namespace blockreplay::storage::snapshot {
namespace {

constexpr char kMetadataName[] = "_snapshot";
constexpr uint64_t kMaxMetadataBytes = uint64_t{16} << 20;
// CometBFT sends no chunk above 16 MiB; the SDK cuts at 10 MB.
constexpr uint64_t kMaxChunkBytes = uint64_t{256} << 20;
constexpr size_t kBufferBytes = size_t{256} << 10;

class Archive {
 public:
  static absl::StatusOr<std::unique_ptr<Archive>> Open(const std::string& path) {
    std::unique_ptr<Archive> archive(new Archive(path));
    if (archive->file_ == nullptr) {
      return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
    }
    return archive;
  }
  ~Archive() {
    if (file_ != nullptr) gzclose_r(file_);
  }
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;

  absl::Status Located(const absl::Status& status) const {
    return absl::Status(status.code(), absl::StrCat(path_, ": ", status.message()));
  }

  // Goes to the next file, which must have that name.
  absl::Status Expect(const std::string& name, uint64_t max_bytes) {
    absl::StatusOr<std::optional<TarReader::Entry>> entry = tar_.Next();
    if (!entry.ok()) return Located(entry.status());
    if (!*entry || (*entry)->name != name) {
      return Located(absl::DataLossError(absl::StrCat(
          "not a snapshot as `snapshots dump` packs it: ", name, " must come, there is ",
          *entry ? absl::StrCat("\"", (*entry)->name, "\"") : "nothing")));
    }
    if ((*entry)->size > max_bytes) {
      return Located(absl::DataLossError(
          absl::StrCat(name, " is larger than such a file can be: ", (*entry)->size, " bytes")));
    }
    return absl::OkStatus();
  }
  absl::StatusOr<size_t> Read(char* buffer, size_t size) {
    absl::StatusOr<size_t> got = tar_.Read(buffer, size);
    return got.ok() ? got : Located(got.status());
  }

  absl::StatusOr<Snapshot> ReadMetadata() {
    if (absl::Status status = Expect(kMetadataName, kMaxMetadataBytes); !status.ok()) return status;
    std::string bytes;
    char buffer[4096];
    for (;;) {
      absl::StatusOr<size_t> got = Read(buffer, sizeof(buffer));
      if (!got.ok()) return got.status();
      if (*got == 0) break;
      bytes.append(buffer, *got);
    }
    Snapshot metadata;
    if (!metadata.ParseFromString(bytes)) {
      return Located(absl::DataLossError("its _snapshot is not a Snapshot message"));
    }
    return metadata;
  }

 private:
  explicit Archive(const std::string& path)
      : path_(path),
        file_(gzopen(path.c_str(), "rb")),
        tar_([this](char* buffer, size_t size) { return Inflate(buffer, size); }) {}

  absl::StatusOr<size_t> Inflate(char* buffer, size_t size) {
    const int got = gzread(file_, buffer, static_cast<unsigned>(size));
    if (got >= 0) return static_cast<size_t>(got);
    int error = 0;
    const char* const text = gzerror(file_, &error);
    if (error == Z_ERRNO) return absl::ErrnoToStatus(errno, "cannot read");
    return absl::DataLossError(text);
  }

  const std::string path_;
  gzFile file_;
  TarReader tar_;
};

class File {
 public:
  explicit File(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "wbx")) {}
  ~File() {
    if (file_ != nullptr) std::fclose(file_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  absl::Status Write(const char* bytes, size_t size) {
    if (file_ == nullptr || std::fwrite(bytes, 1, size, file_) != size) return Failed();
    return absl::OkStatus();
  }
  absl::Status Close() {
    if (file_ == nullptr || std::fclose(std::exchange(file_, nullptr)) != 0) return Failed();
    return absl::OkStatus();
  }

 private:
  absl::Status Failed() const {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path_));
  }

  const std::string path_;
  std::FILE* file_;
};

}  // namespace

absl::StatusOr<Snapshot> ReadArchiveMetadata(const std::string& path) {
  absl::StatusOr<std::unique_ptr<Archive>> archive = Archive::Open(path);
  if (!archive.ok()) return archive.status();
  return (*archive)->ReadMetadata();
}

absl::StatusOr<Snapshot> UnpackArchive(
    const std::string& path, const std::string& folder,
    const std::function<absl::Status(uint64_t bytes)>& progress) {
  absl::StatusOr<std::unique_ptr<Archive>> archive = Archive::Open(path);
  if (!archive.ok()) return archive.status();
  absl::StatusOr<Snapshot> metadata = (*archive)->ReadMetadata();
  if (!metadata.ok()) return metadata;
  const auto buffer = std::make_unique<char[]>(kBufferBytes);
  uint64_t unpacked = 0;
  for (uint32_t chunk = 0; chunk < metadata->chunks(); ++chunk) {
    const std::string name = absl::StrCat(chunk);
    if (absl::Status status = (*archive)->Expect(name, kMaxChunkBytes); !status.ok()) return status;
    File file(absl::StrCat(folder, "/", name));
    for (;;) {
      absl::StatusOr<size_t> got = (*archive)->Read(buffer.get(), kBufferBytes);
      if (!got.ok()) return got.status();
      if (*got == 0) break;
      if (absl::Status status = file.Write(buffer.get(), *got); !status.ok()) return status;
      unpacked += *got;
      if (absl::Status status = progress(unpacked); !status.ok()) return status;
    }
    if (absl::Status status = file.Close(); !status.ok()) return status;
  }
  // Last, so that what was interrupted is no snapshot.
  const std::string bytes = metadata->SerializeAsString();
  File file(absl::StrCat(folder, "/", kMetadataName));
  if (absl::Status status = file.Write(bytes.data(), bytes.size()); !status.ok()) return status;
  if (absl::Status status = file.Close(); !status.ok()) return status;
  return metadata;
}

}  // namespace blockreplay::storage::snapshot
