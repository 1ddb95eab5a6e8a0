#include "replay/import/base_state.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/recording/file_io.h"
#include "replay/recording/sha256.h"
#include "storage/snapshot/archive.h"

namespace blockreplay::replay {
namespace {

using storage::snapshot::Snapshot;

constexpr size_t kBufferSize = size_t{1} << 18;

// Copies a chunk; its hash is the chunk's own, and goes into that of the whole.
absl::StatusOr<std::string> CopyChunk(const std::string& from, const std::string& to, Sha256* whole,
                                      const std::function<absl::Status(size_t)>& copied) {
  absl::StatusOr<InputFile> in = InputFile::Open(from);
  if (!in.ok()) return in.status();
  absl::StatusOr<OutputFile> out = OutputFile::Create(to);
  if (!out.ok()) return out.status();
  Sha256 own;
  std::string buffer(kBufferSize, '\0');
  for (;;) {
    absl::StatusOr<size_t> size = in->Read(buffer.data(), buffer.size());
    if (!size.ok()) return size.status();
    if (*size == 0) break;
    const std::string_view piece = std::string_view(buffer).substr(0, *size);
    own.Update(piece);
    whole->Update(piece);
    if (absl::Status status = out->Write(piece); !status.ok()) return status;
    if (absl::Status status = copied(*size); !status.ok()) return status;
  }
  if (absl::Status status = out->Close(); !status.ok()) return status;
  return RawOf(own.Finish());
}

absl::Status CreateFolder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directory(path, error);
  return error ? ErrnoStatus(error.value(), "create folder", path) : absl::OkStatus();
}

absl::Status Differs(const std::string& path) {
  return absl::DataLossError(
      absl::StrCat(path, " has not the SHA-256 that the snapshot says: get the file again"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<BaseState>> OpenSnapshotBase(const std::string& path,
                                                            int64_t height) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) return ArchiveBase::Open(path);
  const std::string of_height = absl::StrCat(path, "/", height);
  return SnapshotBase::Open(std::filesystem::is_directory(of_height, ignored) ? of_height : path);
}

absl::StatusOr<std::unique_ptr<SnapshotBase>> SnapshotBase::Open(const std::string& path) {
  absl::StatusOr<storage::snapshot::SnapshotDir> snapshot =
      storage::snapshot::SnapshotDir::Open(path);
  if (!snapshot.ok()) return snapshot.status();
  return std::unique_ptr<SnapshotBase>(new SnapshotBase(*std::move(snapshot)));
}

absl::Status SnapshotBase::Write(const std::string& path,
                                 const storage::SnapshotProgressCallback& progress) const {
  if (absl::Status status = CreateFolder(path); !status.ok()) return status;
  Snapshot metadata = snapshot_.metadata();
  // Where the source has no hashes, these are its first.
  metadata.clear_hash();
  metadata.clear_metadata();
  storage::SnapshotProgress done;
  done.total_bytes = snapshot_.total_bytes();
  const auto copied = [&](size_t bytes) {
    done.bytes += bytes;
    return progress ? progress(done) : absl::OkStatus();
  };
  Sha256 whole;
  for (size_t i = 0; i < snapshot_.chunks().size(); ++i) {
    absl::StatusOr<std::string> hash =
        CopyChunk(snapshot_.chunks()[i], absl::StrCat(path, "/", i), &whole, copied);
    if (!hash.ok()) return hash.status();
    if (snapshot_.has_hashes() &&
        *hash != snapshot_.metadata().metadata().chunk_hashes(static_cast<int>(i))) {
      return Differs(snapshot_.chunks()[i]);
    }
    metadata.mutable_metadata()->add_chunk_hashes(*std::move(hash));
  }
  metadata.set_hash(RawOf(whole.Finish()));
  if (snapshot_.has_hashes() && metadata.hash() != snapshot_.metadata().hash()) {
    return Differs("the snapshot as a whole");
  }
  return WriteFileAtomically(absl::StrCat(path, "/_snapshot"), metadata.SerializeAsString());
}

absl::StatusOr<std::unique_ptr<ArchiveBase>> ArchiveBase::Open(const std::string& path) {
  absl::StatusOr<Snapshot> metadata = storage::snapshot::ReadArchiveMetadata(path);
  if (!metadata.ok()) return metadata.status();
  return std::unique_ptr<ArchiveBase>(
      new ArchiveBase(path, static_cast<int64_t>(metadata->height())));
}

absl::StatusOr<DiskBytes> ArchiveBase::EstimateBytes() const {
  std::error_code error;
  const uint64_t bytes = std::filesystem::file_size(path_, error);
  if (error) return ErrnoStatus(error.value(), "read", path_);
  // The chunks in it are compressed already, but for what gzip may find.
  return DiskBytes{bytes / 2, bytes};
}

absl::Status ArchiveBase::Write(const std::string& path,
                                const storage::SnapshotProgressCallback& progress) const {
  if (absl::Status status = CreateFolder(path); !status.ok()) return status;
  storage::SnapshotProgress done;
  std::error_code error;
  done.total_bytes = std::filesystem::file_size(path_, error);  // chunks hardly compress further
  if (error) return ErrnoStatus(error.value(), "read", path_);
  return storage::snapshot::UnpackArchive(path_, path,
                                          [&](uint64_t bytes) {
                                            done.bytes = std::min(bytes, done.total_bytes);
                                            return progress ? progress(done) : absl::OkStatus();
                                          })
      .status();
}

}  // namespace blockreplay::replay
