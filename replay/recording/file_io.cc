#include "replay/recording/file_io.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace blockreplay::replay {

absl::Status ErrnoStatus(int error, std::string_view action, std::string_view path) {
  return absl::ErrnoToStatus(error,
                             absl::StrCat("cannot ", std::string(action), " ", std::string(path)));
}

absl::StatusOr<InputFile> InputFile::Open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return ErrnoStatus(errno, "open", path);
  return InputFile(fd, path);
}

InputFile::InputFile(InputFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = std::exchange(other.fd_, -1);
    path_ = std::move(other.path_);
  }
  return *this;
}

InputFile::~InputFile() {
  if (fd_ >= 0) ::close(fd_);
}

absl::StatusOr<size_t> InputFile::Read(char* buffer, size_t capacity) {
  for (;;) {
    const ssize_t size = ::read(fd_, buffer, capacity);
    if (size >= 0) return static_cast<size_t>(size);
    if (errno != EINTR) return ErrnoStatus(errno, "read", path_);
  }
}

absl::StatusOr<OutputFile> OutputFile::Create(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return ErrnoStatus(errno, "create", path);
  return OutputFile(fd, path);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = std::exchange(other.fd_, -1);
    path_ = std::move(other.path_);
  }
  return *this;
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) ::close(fd_);
}

absl::Status OutputFile::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t size = ::write(fd_, bytes.data(), bytes.size());
    if (size >= 0) {
      bytes.remove_prefix(static_cast<size_t>(size));
    } else if (errno != EINTR) {
      return ErrnoStatus(errno, "write", path_);
    }
  }
  return absl::OkStatus();
}

absl::Status OutputFile::Close() {
  const int fd = std::exchange(fd_, -1);
  if (::close(fd) != 0) return ErrnoStatus(errno, "close", path_);
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadFile(const std::string& path, size_t max_size) {
  absl::StatusOr<InputFile> file = InputFile::Open(path);
  if (!file.ok()) return file.status();
  std::string bytes;
  char buffer[16384];
  for (;;) {
    absl::StatusOr<size_t> size = file->Read(buffer, sizeof(buffer));
    if (!size.ok()) return size.status();
    if (*size == 0) return bytes;
    if (bytes.size() + *size > max_size) {
      return absl::ResourceExhaustedError(absl::StrCat(
          path, " is larger than ", max_size, " bytes, which is more than such a file has"));
    }
    bytes.append(buffer, *size);
  }
}

absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes) {
  const std::string temporary = path + ".tmp";
  absl::StatusOr<OutputFile> file = OutputFile::Create(temporary);
  if (!file.ok()) return file.status();
  absl::Status status = file->Write(bytes);
  if (status.ok()) status = file->Close();
  if (status.ok() && std::rename(temporary.c_str(), path.c_str()) != 0) {
    status = ErrnoStatus(errno, "rename a temporary file to", path);
  }
  if (!status.ok()) ::unlink(temporary.c_str());
  return status;
}

absl::Status CheckWritable(const std::string& path) {
  const std::string temporary = path + ".tmp";
  absl::StatusOr<OutputFile> file = OutputFile::Create(temporary);
  if (!file.ok()) return ErrnoStatus(errno, "write", path);
  ::unlink(temporary.c_str());
  return absl::OkStatus();
}

}  // namespace blockreplay::replay
