#include "replay/record/block_log.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "replay/recording/delimited_message.h"
#include "replay/recording/delimited_reader.h"
#include "replay/recording/file_io.h"
#include "replay/recording/manifest.h"
#include "replay/recording/sha256.h"

namespace blockreplay::replay {
namespace {

namespace fs = std::filesystem;

// A lock on the folder itself: nothing to leave behind, and gone with the process.
absl::StatusOr<int> LockDir(const std::string& dir, absl::Duration patience) {
  const int fd = ::open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return ErrnoStatus(errno, "open", dir);
  const absl::Time deadline = absl::Now() + patience;
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK || absl::Now() >= deadline) {
      const absl::Status status =
          errno == EWOULDBLOCK
              ? absl::UnavailableError(absl::StrCat(
                    dir,
                    " is being recorded into by another process: give each node its own folder"))
              : ErrnoStatus(errno, "lock", dir);
      ::close(fd);
      return status;
    }
    absl::SleepFor(absl::Milliseconds(20));
  }
  return fd;
}

absl::Status CheckNames(const StreamNames& known, const StreamNames& given,
                        const std::string& dir) {
  if (known.chain_id.empty() || given.chain_id.empty() || known.chain_id == given.chain_id)
    return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(dir, " has blocks of chain ", known.chain_id,
                                                    ", not of ", given.chain_id,
                                                    ": give another folder"));
}

void Override(const std::string& given, std::string* known) {
  if (!given.empty()) *known = given;
}

// Copies the bytes of `from` that begin at `offset`.
absl::Status CopyTail(const std::string& from, uint64_t offset, const std::string& to) {
  absl::StatusOr<InputFile> in = InputFile::Open(from);
  if (!in.ok()) return in.status();
  absl::StatusOr<OutputFile> out = OutputFile::Create(to);
  if (!out.ok()) return out.status();
  std::vector<char> buffer(size_t{1} << 18);
  for (;;) {
    absl::StatusOr<size_t> size = in->Read(buffer.data(), buffer.size());
    if (!size.ok()) return size.status();
    if (*size == 0) return out->Close();
    const size_t skipped = static_cast<size_t>(std::min<uint64_t>(offset, *size));
    offset -= skipped;
    if (absl::Status status =
            out->Write(std::string_view(buffer.data() + skipped, *size - skipped));
        !status.ok()) {
      return status;
    }
  }
}

absl::Status Cut(const std::string& path, uint64_t size) {
  std::error_code error;
  if (size == 0) {
    fs::remove(path, error);
  } else {
    fs::resize_file(path, size, error);
  }
  return error ? ErrnoStatus(error.value(), "cut", path) : absl::OkStatus();
}

}  // namespace

BlockLog::BlockLog(std::string dir, BlockLogOptions options, int lock_fd)
    : dir_(std::move(dir)), options_(std::move(options)), lock_fd_(lock_fd) {}

BlockLog::~BlockLog() {
  (void)Close();
  ::close(lock_fd_);
}

absl::StatusOr<std::unique_ptr<BlockLog>> BlockLog::Open(const std::string& dir,
                                                         const BlockLogOptions& options,
                                                         absl::Duration patience,
                                                         const Notice& notice) {
  std::error_code error;
  fs::create_directories(dir, error);
  if (error) return ErrnoStatus(error.value(), "create folder", dir);
  if (fs::exists(fs::path(dir) / std::string(kManifestName), error)) {
    return absl::FailedPreconditionError(
        absl::StrCat(dir, " holds a complete recording: give another folder"));
  }
  absl::StatusOr<int> lock = LockDir(dir, patience);
  if (!lock.ok()) return lock.status();
  std::unique_ptr<BlockLog> log(new BlockLog(dir, options, *lock));

  absl::StatusOr<StreamContents> contents = ReadStream(dir);
  if (!contents.ok()) return contents.status();
  if (!contents->draft.ok()) {
    notice(absl::StrCat(contents->draft.message(), ": not used, all parts were read instead"));
  }
  if (absl::Status status = CheckNames(contents->index.names, options.names, dir); !status.ok())
    return status;
  log->index_ = contents->index;
  Override(options.names.chain_id, &log->index_.names.chain_id);
  Override(options.names.application_name, &log->index_.names.application_name);
  Override(options.names.application_version, &log->index_.names.application_version);
  if (absl::Status status = log->Repair(*contents, notice); !status.ok()) return status;
  if (absl::Status status = log->WriteIndex(); !status.ok()) return status;
  return log;
}

absl::Status BlockLog::Repair(const StreamContents& contents, const Notice& notice) {
  for (const PartDamage& damage : contents.damages) {
    const StreamPart& part = index_.parts.at(damage.first);
    std::string kept;
    if (!absl::IsOutOfRange(
            damage.status)) {  // not what a killed writer leaves: somebody may want to look at it
      absl::StatusOr<std::string> aside = NewSetAsideDir();
      if (!aside.ok()) return aside.status();
      if (absl::Status status =
              CopyTail(PathOf(part), part.size, absl::StrCat(*aside, "/", part.name(), ".damaged"));
          !status.ok()) {
        return status;
      }
      kept = absl::StrCat(", copied to ", *aside);
    }
    if (absl::Status status = Cut(PathOf(part), part.size); !status.ok()) return status;
    notice(absl::StrCat(damage.status.message(), ": cut off ", damage.file_size - part.size,
                        " bytes", kept));
  }
  // Empty ones: the first block of a part did not arrive whole.
  for (auto it = index_.parts.begin(); it != index_.parts.end();) {
    if (it->second.last >= it->second.first) {
      ++it;
      continue;
    }
    if (absl::Status status = Cut(PathOf(it->second), 0); !status.ok()) return status;
    it = index_.parts.erase(it);
  }
  return absl::OkStatus();
}

std::string BlockLog::PathOf(const StreamPart& part) const {
  return absl::StrCat(dir_, "/", part.name());
}

absl::StatusOr<std::optional<v1::Block>> BlockLog::Find(int64_t height) {
  const StreamPart* const part = FindPart(index_.parts, height);
  if (part == nullptr) return std::nullopt;
  if (reader_ == nullptr || height < reader_next_ || height > reader_last_) {
    absl::StatusOr<std::unique_ptr<PartReader>> reader = PartReader::Open(PathOf(*part));
    if (!reader.ok()) return reader.status();
    reader_ = *std::move(reader);
    reader_next_ = part->first;
    reader_last_ = part->last;
  }
  v1::Block block;
  while (reader_next_ <= height) {
    absl::StatusOr<bool> more = reader_->Next(&block);
    if (more.ok() && (!*more || block.height() != reader_next_)) {
      more = absl::DataLossError(
          absl::StrCat(PathOf(*part), ": block ", reader_next_, " is not where it was"));
    }
    if (!more.ok()) {
      reader_ = nullptr;
      return more.status();
    }
    ++reader_next_;
  }
  return block;
}

absl::Status BlockLog::Append(const v1::Block& block) {
  absl::StatusOr<std::string> message = DelimitedMessage(block);
  if (!message.ok()) return message.status();
  if (message->size() > DelimitedReader::kMaxMessageSize) {
    return absl::ResourceExhaustedError(absl::StrCat("block ", block.height(), " has ",
                                                     message->size(),
                                                     " bytes, more than a recording can hold"));
  }
  if (absl::Status status = OpenWriterFor(block.height()); !status.ok()) return status;
  StreamPart& part = index_.parts.at(writer_part_);
  const bool sync = options_.sync_every > 0 && unsynced_ + 1 >= options_.sync_every;
  if (absl::Status status = writer_->Append(*message, sync); !status.ok()) return status;
  unsynced_ = sync ? 0 : unsynced_ + 1;
  part.last = block.height();
  part.size = writer_->size();
  part.sha256.clear();
  reader_ = nullptr;
  return absl::OkStatus();
}

absl::Status BlockLog::OpenWriterFor(int64_t height) {
  const auto full = [&](const StreamPart& part) {
    return part.last - part.first + 1 >= options_.blocks_per_part;
  };
  if (writer_ != nullptr) {
    const StreamPart& part = index_.parts.at(writer_part_);
    if (part.last + 1 == height && !full(part)) return absl::OkStatus();
    if (absl::Status status = SealWriter(); !status.ok()) return status;
  }
  const StreamPart* const before = FindPart(index_.parts, height - 1);
  StreamPart part = before != nullptr && !full(*before)
                        ? *before
                        : StreamPart{.first = height, .last = height - 1};
  absl::StatusOr<std::unique_ptr<PartWriter>> writer =
      PartWriter::Open(PathOf(part), part.size, options_.compression_level);
  if (!writer.ok()) return writer.status();
  if (part.size == 0) {
    if (absl::Status status = SyncDir(); !status.ok()) return status;
  }
  writer_ = *std::move(writer);
  writer_part_ = part.first;
  unsynced_ = 0;
  index_.parts.emplace(part.first, part);
  return absl::OkStatus();
}

absl::Status BlockLog::SealWriter() {
  StreamPart& part = index_.parts.at(writer_part_);
  if (part.last < part.first) {  // its first block could not be written
    const std::string path = PathOf(part);
    index_.parts.erase(writer_part_);
    writer_ = nullptr;
    return Cut(path, 0);
  }
  if (absl::Status status = writer_->Sync(); !status.ok()) return status;
  absl::StatusOr<Sha256Digest> sha256 = Sha256OfFile(PathOf(part));
  if (!sha256.ok()) return sha256.status();
  part.sha256 = HexOf(*sha256);
  writer_ = nullptr;
  return WriteIndex();
}

absl::Status BlockLog::WriteIndex() {
  return WriteFileAtomically(absl::StrCat(dir_, "/", kDraftManifestName), IndexToJson(index_));
}

absl::StatusOr<std::string> BlockLog::NewSetAsideDir() {
  for (int number = 1;; ++number) {
    const std::string dir = absl::StrCat(dir_, "/set-aside/", number);
    std::error_code error;
    fs::create_directories(fs::path(dir).parent_path(), error);
    if (!error && fs::create_directory(dir, error)) return dir;
    if (error) return ErrnoStatus(error.value(), "create folder", dir);
  }
}

absl::StatusOr<std::string> BlockLog::SetAside(int64_t height) {
  if (writer_ != nullptr) {
    if (absl::Status status = SealWriter(); !status.ok()) return status;
  }
  absl::StatusOr<std::string> aside = NewSetAsideDir();
  if (!aside.ok()) return aside.status();
  const StreamPart* const containing = FindPart(index_.parts, height);
  if (containing != nullptr && containing->first < height) {
    // Find leaves the reader behind the block before. Frames stand for themselves, so that the rest
    // is a part as well.
    absl::StatusOr<std::optional<v1::Block>> before = Find(height - 1);
    if (!before.ok()) return before.status();
    StreamPart rest = *containing;
    rest.size = reader_->end();
    rest.last = height - 1;
    const std::string path = PathOf(rest);
    if (absl::Status status = CopyTail(
            path, rest.size, absl::StrCat(*aside, "/", StreamPart{.first = height}.name()));
        !status.ok()) {
      return status;
    }
    if (absl::Status status = Cut(path, rest.size); !status.ok()) return status;
    rest.sha256.clear();
    index_.parts[rest.first] = rest;
  }
  reader_ = nullptr;
  for (auto it = index_.parts.lower_bound(height); it != index_.parts.end();
       it = index_.parts.erase(it)) {
    std::error_code error;
    fs::rename(PathOf(it->second), absl::StrCat(*aside, "/", it->second.name()), error);
    if (error) return ErrnoStatus(error.value(), "move", PathOf(it->second));
  }
  if (absl::Status status = WriteIndex(); !status.ok()) return status;
  return *aside;
}

absl::Status BlockLog::SyncDir() {
  if (::fsync(lock_fd_) != 0) return ErrnoStatus(errno, "sync", dir_);
  return absl::OkStatus();
}

absl::Status BlockLog::Close() { return writer_ != nullptr ? SealWriter() : absl::OkStatus(); }

}  // namespace blockreplay::replay
