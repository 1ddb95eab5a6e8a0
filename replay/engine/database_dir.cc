#include "replay/engine/database_dir.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "replay/recording/file_io.h"

namespace blockreplay::replay {
namespace {

using nlohmann::json;

constexpr char kInfoName[] = "blockreplay.json";
constexpr char kInfoFormat[] = "blockreplay.db.v1";
constexpr size_t kMaxInfoSize = size_t{1} << 20;

std::string StringField(const json& document, const char* name) {
  const auto it = document.find(name);
  return it != document.end() && it->is_string() ? it->get<std::string>() : std::string();
}

}  // namespace

absl::StatusOr<DatabaseDir> DatabaseDir::Create(const std::string& path, const DatabaseInfo& info) {
  if (::mkdir(path.c_str(), 0777) != 0) {
    if (errno == EEXIST) {
      return absl::AlreadyExistsError(absl::StrCat(
          "--db ", path, " exists already: add --resume to go on with it, or give another folder"));
    }
    return ErrnoStatus(errno, "create the database folder", path);
  }
  DatabaseDir dir(path, info, /*temporary=*/false);
  if (absl::Status status = dir.Lock(); !status.ok()) return status;
  if (absl::Status status = dir.WriteInfo(); !status.ok()) return status;
  return dir;
}

absl::StatusOr<DatabaseDir> DatabaseDir::CreateTemporary(const DatabaseInfo& info) {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error) return ErrnoStatus(error.value(), "use", "the folder for temporary files (TMPDIR)");
  std::string path = (parent / "blockreplay-XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr)
    return ErrnoStatus(errno, "create a folder in", parent.string());
  DatabaseDir dir(path, info, /*temporary=*/true);
  if (absl::Status status = dir.Lock(); !status.ok()) return status;
  if (absl::Status status = dir.WriteInfo(); !status.ok()) return status;
  return dir;
}

absl::StatusOr<DatabaseDir> DatabaseDir::Resume(const std::string& path, const DatabaseInfo& info) {
  struct stat kind;
  if (::stat(path.c_str(), &kind) != 0) {
    if (errno == ENOENT) return Create(path, info);
    return ErrnoStatus(errno, "open the database folder", path);
  }
  const auto refuse = [&](const std::string& problem) {
    return absl::FailedPreconditionError(absl::StrCat("--db ", path, " ", problem));
  };
  if (!S_ISDIR(kind.st_mode)) return refuse("is not a folder");
  DatabaseDir dir(path, info, /*temporary=*/false);
  if (absl::Status status = dir.Lock(); !status.ok()) return status;

  const std::string info_path = absl::StrCat(path, "/", kInfoName);
  absl::StatusOr<std::string> text = ReadFile(info_path, kMaxInfoSize);
  if (absl::IsNotFound(text.status())) {
    // A run that was killed before it wrote anything leaves an empty folder, or the file under its
    // temporary name.
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      if (entry.path().filename() == absl::StrCat(kInfoName, ".tmp")) continue;
      return refuse(absl::StrCat("has no ", kInfoName,
                                 ": it was not made by blockreplay, and stays untouched"));
    }
    if (absl::Status status = dir.WriteInfo(); !status.ok()) return status;
    return dir;
  }
  if (!text.ok()) return text.status();
  const json document = json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object() || StringField(document, "format") != kInfoFormat) {
    return refuse(absl::StrCat("has a ", kInfoName, " that this version does not understand"));
  }
  if (const std::string digest = StringField(document, "recording_digest");
      digest != info.recording_digest) {
    return refuse(absl::StrCat("was written by another recording (digest ", digest,
                               ", this one has ", info.recording_digest, "): give another folder"));
  }
  if (const std::string persist = StringField(document, "persist"); persist != info.persist) {
    return refuse(absl::StrCat("was written with --persist=", persist,
                               ": resume it with that, not with ", info.persist));
  }
  const auto complete = document.find("base_complete");
  dir.has_base_ = complete != document.end() && complete->is_boolean() && complete->get<bool>();
  return dir;
}

DatabaseDir::DatabaseDir(DatabaseDir&& other) noexcept
    : path_(std::move(other.path_)),
      info_(std::move(other.info_)),
      temporary_(std::exchange(other.temporary_, false)),
      has_base_(other.has_base_),
      lock_fd_(std::exchange(other.lock_fd_, -1)) {}

DatabaseDir::~DatabaseDir() {
  if (temporary_) {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  if (lock_fd_ >= 0) ::close(lock_fd_);
}

absl::Status DatabaseDir::Lock() {
  lock_fd_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_fd_ < 0) return ErrnoStatus(errno, "open the database folder", path_);
  if (::flock(lock_fd_, LOCK_EX | LOCK_NB) == 0) return absl::OkStatus();
  if (errno == EWOULDBLOCK) {
    return absl::FailedPreconditionError(absl::StrCat(
        "--db ", path_, " is locked by another process: wait for it, or give another folder"));
  }
  return ErrnoStatus(errno, "lock the database folder", path_);
}

absl::Status DatabaseDir::WriteInfo() const {
  const json document = {{"format", kInfoFormat},
                         {"recording_digest", info_.recording_digest},
                         {"chain_id", info_.chain_id},
                         {"persist", info_.persist},
                         {"base_complete", has_base_}};
  return WriteFileAtomically(absl::StrCat(path_, "/", kInfoName), document.dump(1) + "\n");
}

absl::Status DatabaseDir::MarkBaseComplete() {
  has_base_ = true;
  return WriteInfo();
}

absl::Status DatabaseDir::Clear() {
  // The mark goes first: killed in between, the next run must not take the rest for a state.
  has_base_ = false;
  if (absl::Status status = WriteInfo(); !status.ok()) return status;
  std::error_code error;
  std::filesystem::remove_all(database_path(), error);
  if (error) return ErrnoStatus(error.value(), "remove", database_path());
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> FreeDiskBytes(const std::string& path) {
  std::filesystem::path existing = std::filesystem::absolute(path);
  std::error_code ignored;
  while (!std::filesystem::exists(existing, ignored) && existing.has_relative_path()) {
    existing = existing.parent_path();
  }
  struct statvfs info;
  if (::statvfs(existing.c_str(), &info) != 0) {
    return ErrnoStatus(errno, "ask for the free space of", existing.string());
  }
  return uint64_t{info.f_bavail} * info.f_frsize;
}

}  // namespace blockreplay::replay
