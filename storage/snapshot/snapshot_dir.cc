#include "storage/snapshot/snapshot_dir.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "storage/kv/leveldb_source.h"
#include "storage/snapshot/item_writer.h"

namespace blockreplay::storage::snapshot {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBufferBytes = size_t{256} << 10;
constexpr size_t kMaxMetadataBytes = size_t{16} << 20;
constexpr char kMetadataFile[] = "_snapshot";

absl::Status FileError(const std::string& path, const char* what) {
  const int error = errno;
  const std::string message = absl::StrCat(path, ": ", what, ": ", std::strerror(error));
  if (error == ENOENT) return absl::NotFoundError(message);
  if (error == ENOSPC || error == EDQUOT) return absl::ResourceExhaustedError(message);
  return absl::UnavailableError(message);
}

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new()) { EVP_DigestInit_ex(context_, EVP_sha256(), nullptr); }
  ~Sha256() { EVP_MD_CTX_free(context_); }
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void Update(std::string_view bytes) { EVP_DigestUpdate(context_, bytes.data(), bytes.size()); }
  // The hash of what came since the last Finish.
  std::string Finish() {
    unsigned char hash[32];
    EVP_DigestFinal_ex(context_, hash, nullptr);
    EVP_DigestInit_ex(context_, EVP_sha256(), nullptr);
    return {reinterpret_cast<const char*>(hash), sizeof(hash)};
  }

 private:
  EVP_MD_CTX* context_;
};

absl::StatusOr<Snapshot> ReadMetadata(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return FileError(path, "cannot open");
  std::string bytes;
  char buffer[4096];
  size_t got = 0;
  while (bytes.size() <= kMaxMetadataBytes &&
         (got = std::fread(buffer, 1, sizeof(buffer), file)) > 0) {
    bytes.append(buffer, got);
  }
  const bool failed = std::ferror(file) != 0;
  if (failed) {
    absl::Status status = FileError(path, "cannot read");
    std::fclose(file);
    return status;
  }
  std::fclose(file);
  Snapshot metadata;
  if (bytes.size() > kMaxMetadataBytes || !metadata.ParseFromString(bytes)) {
    return absl::DataLossError(absl::StrCat(path, ": not a Snapshot message"));
  }
  return metadata;
}

bool IsFile(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

// The sub-folder of `path` with the highest number as its name, if there is any.
std::optional<fs::path> HighestNumbered(const fs::path& path) {
  std::optional<fs::path> best;
  uint64_t best_number = 0;
  std::error_code error;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    uint64_t number = 0;
    std::error_code ignored;
    if (!it->is_directory(ignored) || !absl::SimpleAtoi(it->path().filename().string(), &number)) {
      continue;
    }
    if (!best || number > best_number) {
      best = it->path();
      best_number = number;
    }
  }
  return best;
}

// A node's key of a snapshot in metadata.db: a prefix byte, be8 height, be4 format.
std::string MetadataKey(uint64_t height, uint32_t format) {
  std::string key(1, '\1');
  for (int shift = 56; shift >= 0; shift -= 8) key.push_back(static_cast<char>(height >> shift));
  for (int shift = 24; shift >= 0; shift -= 8) key.push_back(static_cast<char>(format >> shift));
  return key;
}

// Replaces what the names tell by what metadata.db has, if there is such a database.
absl::Status ReadNodeMetadata(const fs::path& path, Snapshot* metadata) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return absl::OkStatus();
  LeveldbSourceOptions options;
  options.allow_in_use = true;  // nothing is ever changed once it is written
  absl::StatusOr<std::unique_ptr<LeveldbSource>> db = LeveldbSource::Open(path.string(), options);
  // Another kind of database.
  if (absl::IsFailedPrecondition(db.status()) || absl::IsNotFound(db.status())) {
    return absl::OkStatus();
  }
  if (!db.ok()) return db.status();
  std::string bytes;
  absl::StatusOr<bool> found =
      (*db)->Get(MetadataKey(metadata->height(), metadata->format()), &bytes);
  if (!found.ok()) return found.status();
  if (!*found) {
    return absl::FailedPreconditionError(absl::StrCat(path.string(), ": has no snapshot of height ",
                                                      metadata->height(),
                                                      "; the node has not finished it"));
  }
  Snapshot stored;
  if (!stored.ParseFromString(bytes) || stored.height() != metadata->height() ||
      stored.format() != metadata->format() || stored.hash().empty()) {
    return absl::DataLossError(
        absl::StrCat(path.string(), ": bad record of the snapshot of height ", metadata->height()));
  }
  *metadata = stored;
  return absl::OkStatus();
}

// The node layout: …/<height>/<format>.
absl::StatusOr<Snapshot> MetadataOfNode(const fs::path& path) {
  Snapshot metadata;
  uint64_t height = 0;
  uint32_t format = 0;
  std::error_code error;
  const fs::path full = fs::weakly_canonical(path, error);
  if (error || !absl::SimpleAtoi(full.filename().string(), &format) ||
      !absl::SimpleAtoi(full.parent_path().filename().string(), &height)) {
    return absl::NotFoundError(absl::StrCat(path.string(), ": chunks, but neither `", kMetadataFile,
                                            "` beside them nor <height>/<format> in their path"));
  }
  metadata.set_height(height);
  metadata.set_format(format);
  uint32_t chunks = 0;
  while (IsFile(path / absl::StrCat(chunks))) ++chunks;
  metadata.set_chunks(chunks);
  absl::Status status =
      ReadNodeMetadata(full.parent_path().parent_path() / "metadata.db", &metadata);
  if (!status.ok()) return status;
  return metadata;
}

absl::Status CheckMetadata(const std::string& path, const Snapshot& metadata, bool needs_hashes) {
  if (metadata.format() != kFormat) {
    return absl::FailedPreconditionError(absl::StrCat(path, ": a snapshot of format ",
                                                      metadata.format(), "; only format ", kFormat,
                                                      " can be read"));
  }
  if (metadata.height() == 0 || metadata.height() > static_cast<uint64_t>(INT64_MAX)) {
    return absl::DataLossError(absl::StrCat(path, ": a snapshot of height ", metadata.height()));
  }
  if (metadata.chunks() == 0)
    return absl::DataLossError(absl::StrCat(path, ": a snapshot without chunks"));
  if (!needs_hashes) return absl::OkStatus();
  const auto& hashes = metadata.metadata().chunk_hashes();
  if (static_cast<uint32_t>(hashes.size()) != metadata.chunks()) {
    return absl::DataLossError(
        absl::StrCat(path, ": ", metadata.chunks(), " chunks, but hashes of ", hashes.size()));
  }
  const auto is_hash = [](const std::string& hash) { return hash.size() == 32; };
  if (!is_hash(metadata.hash()) || !std::all_of(hashes.begin(), hashes.end(), is_hash)) {
    return absl::DataLossError(absl::StrCat(path, ": a hash that is not 32 bytes long"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SnapshotDir> SnapshotDir::Open(const std::string& path) {
  fs::path folder(path);
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    return absl::NotFoundError(absl::StrCat(path, ": not a folder with a snapshot"));
  }
  SnapshotDir dir;
  const bool archive = IsFile(folder / kMetadataFile);
  if (archive) {
    absl::StatusOr<Snapshot> read = ReadMetadata((folder / kMetadataFile).string());
    if (!read.ok()) return read.status();
    dir.metadata_ = *std::move(read);
  } else {
    // From data/snapshots down to a height, and from there to a format.
    for (int level = 0; level < 2 && !IsFile(folder / "0"); ++level) {
      const std::optional<fs::path> below = HighestNumbered(folder);
      if (!below) break;
      folder = *below;
    }
    if (!IsFile(folder / "0")) {
      return absl::NotFoundError(absl::StrCat(path, ": no snapshot: neither `", kMetadataFile,
                                              "` nor <height>/<format>/0"));
    }
    absl::StatusOr<Snapshot> read = MetadataOfNode(folder);
    if (!read.ok()) return read.status();
    dir.metadata_ = *std::move(read);
  }
  absl::Status status = CheckMetadata(folder.string(), dir.metadata_, archive || dir.has_hashes());
  if (!status.ok()) return status;

  for (uint32_t i = 0; i < dir.metadata_.chunks(); ++i) {
    const fs::path chunk = folder / absl::StrCat(i);
    const uint64_t size = fs::file_size(chunk, error);
    if (error) {
      return absl::NotFoundError(absl::StrCat(chunk.string(), ": chunk ", i, " of ",
                                              dir.metadata_.chunks(),
                                              " is missing: ", error.message()));
    }
    dir.chunks_.push_back(chunk.string());
    dir.total_bytes_ += size;
  }
  const fs::path beyond = folder / absl::StrCat(dir.metadata_.chunks());
  if (IsFile(beyond)) {
    return absl::DataLossError(absl::StrCat(beyond.string(), ": a chunk that the snapshot of ",
                                            dir.metadata_.chunks(), " chunks does not have"));
  }
  return dir;
}

struct ChunkSource::Hasher : Sha256 {};

ChunkSource::ChunkSource(SnapshotDir dir)
    : dir_(std::move(dir)), buffer_(new char[kBufferBytes]), whole_(std::make_unique<Hasher>()) {}

ChunkSource::~ChunkSource() {
  if (file_ != nullptr) std::fclose(file_);
}

std::string ChunkSource::Position() const {
  if (next_chunk_ == 0) return "its start";
  return absl::StrCat(dir_.chunks()[next_chunk_ - 1], " byte ", chunk_offset_);
}

absl::Status ChunkSource::OpenChunk() {
  const size_t index = next_chunk_;
  const std::string& path = dir_.chunks()[index];
  file_ = std::fopen(path.c_str(), "rb");
  if (file_ == nullptr) return FileError(path, "cannot open");
  std::setvbuf(file_, nullptr, _IONBF, 0);
  ++next_chunk_;
  chunk_offset_ = 0;
  if (!dir_.has_hashes()) return absl::OkStatus();

  Sha256 own;
  size_t got = 0;
  while ((got = std::fread(buffer_.get(), 1, kBufferBytes, file_)) > 0) {
    own.Update({buffer_.get(), got});
    whole_->Update({buffer_.get(), got});
  }
  if (std::ferror(file_) != 0) return FileError(path, "cannot read");
  std::rewind(file_);
  const std::string hash = own.Finish();
  const std::string& expected = dir_.metadata().metadata().chunk_hashes(static_cast<int>(index));
  if (hash != expected) {
    return absl::DataLossError(absl::StrCat(
        path, ": chunk ", index, " has the SHA-256 ", absl::BytesToHexString(hash),
        ", the snapshot says ", absl::BytesToHexString(expected), "; get the file again"));
  }
  if (next_chunk_ == dir_.chunks().size()) {
    const std::string whole = whole_->Finish();
    if (whole != dir_.metadata().hash()) {
      return absl::DataLossError(absl::StrCat(path, ": all chunks together have the SHA-256 ",
                                              absl::BytesToHexString(whole), ", the snapshot says ",
                                              absl::BytesToHexString(dir_.metadata().hash())));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string_view> ChunkSource::Next() {
  while (true) {
    if (file_ == nullptr) {
      if (next_chunk_ == dir_.chunks().size()) return std::string_view();
      absl::Status status = OpenChunk();
      if (!status.ok()) return status;
    }
    const size_t got = std::fread(buffer_.get(), 1, kBufferBytes, file_);
    if (got == 0) {
      if (std::ferror(file_) != 0) return FileError(dir_.chunks()[next_chunk_ - 1], "cannot read");
      std::fclose(file_);
      file_ = nullptr;
      continue;
    }
    chunk_offset_ += got;
    bytes_read_ += got;
    return std::string_view(buffer_.get(), got);
  }
}

struct SnapshotDirWriter::Hashers {
  Sha256 chunk;
  Sha256 whole;
};

absl::StatusOr<std::unique_ptr<SnapshotDirWriter>> SnapshotDirWriter::Create(
    const std::string& path, uint64_t height, int compression_level) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(path, error))) {
    return absl::AlreadyExistsError(absl::StrCat(path, ": exists already; name another folder"));
  }
  auto writer =
      std::unique_ptr<SnapshotDirWriter>(new SnapshotDirWriter(path, height, compression_level));
  if (!fs::create_directories(writer->partial_path_, error) || error) {
    writer->finished_ = true;  // not ours to remove
    return absl::UnavailableError(absl::StrCat(writer->partial_path_, ": cannot be created: ",
                                               error ? error.message() : "exists already"));
  }
  return writer;
}

SnapshotDirWriter::SnapshotDirWriter(std::string path, uint64_t height, int compression_level)
    : path_(std::move(path)),
      partial_path_(path_ + ".partial"),
      hashers_(std::make_unique<Hashers>()),
      items_(std::make_unique<ItemWriter>([this](std::string_view bytes) { return Write(bytes); },
                                          compression_level)) {
  metadata_.set_height(height);
  metadata_.set_format(kFormat);
}

SnapshotDirWriter::~SnapshotDirWriter() {
  if (file_ != nullptr) std::fclose(file_);
  if (finished_) return;
  std::error_code ignored;
  fs::remove_all(partial_path_, ignored);
}

absl::Status SnapshotDirWriter::Add(const SnapshotItem& item) { return items_->Add(item); }

absl::Status SnapshotDirWriter::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    if (file_ == nullptr) {
      file_path_ = absl::StrCat(partial_path_, "/", metadata_.chunks());
      file_ = std::fopen(file_path_.c_str(), "wb");
      if (file_ == nullptr) return FileError(file_path_, "cannot create");
      chunk_bytes_ = 0;
    }
    const std::string_view part = bytes.substr(0, kChunkBytes - chunk_bytes_);
    if (std::fwrite(part.data(), 1, part.size(), file_) != part.size()) {
      return FileError(file_path_, "cannot write");
    }
    hashers_->chunk.Update(part);
    hashers_->whole.Update(part);
    chunk_bytes_ += part.size();
    bytes.remove_prefix(part.size());
    if (chunk_bytes_ == kChunkBytes) {
      absl::Status status = CloseChunk();
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

absl::Status SnapshotDirWriter::CloseChunk() {
  std::FILE* file = std::exchange(file_, nullptr);
  if (std::fclose(file) != 0) return FileError(file_path_, "cannot write");
  metadata_.mutable_metadata()->add_chunk_hashes(hashers_->chunk.Finish());
  metadata_.set_chunks(metadata_.chunks() + 1);
  return absl::OkStatus();
}

absl::StatusOr<Snapshot> SnapshotDirWriter::Finish() {
  absl::Status status = items_->Finish();
  if (status.ok() && file_ != nullptr) status = CloseChunk();
  if (!status.ok()) return status;
  metadata_.set_hash(hashers_->whole.Finish());

  const std::string metadata_path = absl::StrCat(partial_path_, "/", kMetadataFile);
  const std::string bytes = metadata_.SerializeAsString();
  std::FILE* file = std::fopen(metadata_path.c_str(), "wb");
  if (file == nullptr) return FileError(metadata_path, "cannot create");
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  if ((std::fclose(file) != 0) || !written) return FileError(metadata_path, "cannot write");

  std::error_code error;
  fs::rename(partial_path_, path_, error);
  if (error) {
    return absl::UnavailableError(
        absl::StrCat(partial_path_, ": cannot be renamed to ", path_, ": ", error.message()));
  }
  finished_ = true;
  return metadata_;
}

}  // namespace blockreplay::storage::snapshot
