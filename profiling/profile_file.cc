#include "profiling/profile_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"

namespace blockreplay::profiling {
namespace {

using perftools::profiles::Profile;

// zlib's window size with its "gzip, not zlib" bit, and with its "either" bit.
constexpr int kGzipWindow = 15 + 16;
constexpr int kGzipOrZlibWindow = 15 + 32;

absl::Status FileError(const char* what, const std::string& path, int error) {
  return absl::ErrnoToStatus(error, absl::StrCat(what, " ", path));
}

absl::Status WriteAll(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return FileError("cannot write", path, errno);
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> Gunzip(std::string_view bytes, size_t max_size) {
  z_stream stream{};
  if (inflateInit2(&stream, kGzipOrZlibWindow) != Z_OK) {
    return absl::InternalError("cannot start zlib");
  }
  absl::Cleanup end = [&] { inflateEnd(&stream); };
  std::string plain;
  char buffer[64 * 1024];
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  size_t left = bytes.size();
  int result = Z_OK;
  while (result != Z_STREAM_END) {
    if (stream.avail_in == 0) {
      if (left == 0) return absl::DataLossError("the gzip stream ends too early");
      stream.avail_in = static_cast<uInt>(std::min<size_t>(left, 1 << 30));
      left -= stream.avail_in;
    }
    stream.next_out = reinterpret_cast<Bytef*>(buffer);
    stream.avail_out = sizeof(buffer);
    result = inflate(&stream, Z_NO_FLUSH);
    if (result != Z_OK && result != Z_STREAM_END) {
      return absl::DataLossError(
          absl::StrCat("bad gzip stream: ", stream.msg != nullptr ? stream.msg : "corrupt"));
    }
    const size_t got = sizeof(buffer) - stream.avail_out;
    if (plain.size() + got > max_size) {
      return absl::ResourceExhaustedError(
          absl::StrCat("more than ", max_size, " bytes after decompression"));
    }
    plain.append(buffer, got);
  }
  return plain;
}

}  // namespace

absl::Status CheckProfile(const Profile& profile) {
  const auto invalid = [](auto&&... parts) {
    return absl::InvalidArgumentError(absl::StrCat("invalid profile: ", parts...));
  };
  const int64_t strings = profile.string_table_size();
  if (strings == 0 || !profile.string_table(0).empty()) {
    return invalid("string_table must begin with \"\"");
  }
  const auto bad_string = [strings](int64_t index) { return index < 0 || index >= strings; };

  if (profile.sample_type_size() == 0 && profile.sample_size() > 0) {
    return invalid("has samples but no sample types");
  }
  for (const auto& type : profile.sample_type()) {
    if (bad_string(type.type()) || bad_string(type.unit())) return invalid("sample type's string");
  }
  if (bad_string(profile.period_type().type()) || bad_string(profile.period_type().unit())) {
    return invalid("period type's string");
  }
  for (const int64_t index : {profile.drop_frames(), profile.keep_frames(),
                              profile.default_sample_type(), profile.doc_url()}) {
    if (bad_string(index)) return invalid("string ", index, " of ", strings);
  }
  for (const int64_t index : profile.comment()) {
    if (bad_string(index)) return invalid("comment's string ", index, " of ", strings);
  }

  std::unordered_map<uint64_t, const perftools::profiles::Mapping*> mappings;
  for (const auto& mapping : profile.mapping()) {
    if (mapping.id() == 0) return invalid("mapping with id 0");
    if (!mappings.emplace(mapping.id(), &mapping).second) {
      return invalid("two mappings with id ", mapping.id());
    }
    if (bad_string(mapping.filename()) || bad_string(mapping.build_id())) {
      return invalid("string of mapping ", mapping.id());
    }
  }
  std::unordered_set<uint64_t> functions;
  for (const auto& function : profile.function()) {
    if (function.id() == 0) return invalid("function with id 0");
    if (!functions.insert(function.id()).second) {
      return invalid("two functions with id ", function.id());
    }
    if (bad_string(function.name()) || bad_string(function.system_name()) ||
        bad_string(function.filename())) {
      return invalid("string of function ", function.id());
    }
  }
  std::unordered_set<uint64_t> locations;
  for (const auto& location : profile.location()) {
    if (location.id() == 0) return invalid("location with id 0");
    if (!locations.insert(location.id()).second) {
      return invalid("two locations with id ", location.id());
    }
    if (location.mapping_id() != 0) {
      const auto it = mappings.find(location.mapping_id());
      if (it == mappings.end()) {
        return invalid("location ", location.id(), " in mapping ", location.mapping_id(),
                       ", which is missing");
      }
      // Merged profiles may have mappings without addresses.
      const auto& mapping = *it->second;
      if (mapping.memory_limit() != 0 && location.address() != 0 &&
          (location.address() < mapping.memory_start() ||
           location.address() >= mapping.memory_limit())) {
        return invalid("location ", location.id(), " at ", absl::Hex(location.address()),
                       " outside of its mapping ", mapping.id());
      }
    }
    for (const auto& line : location.line()) {
      if (!functions.contains(line.function_id())) {
        return invalid("location ", location.id(), " in function ", line.function_id(),
                       ", which is missing");
      }
    }
  }
  for (const auto& sample : profile.sample()) {
    if (sample.value_size() != profile.sample_type_size()) {
      return invalid("sample with ", sample.value_size(), " values for ",
                     profile.sample_type_size(), " sample types");
    }
    for (const uint64_t id : sample.location_id()) {
      if (!locations.contains(id)) return invalid("sample at location ", id, ", which is missing");
    }
    for (const auto& label : sample.label()) {
      if (bad_string(label.key()) || bad_string(label.str()) || bad_string(label.num_unit())) {
        return invalid("label's string");
      }
      if (label.key() == 0) return invalid("label without a key");
      if (label.str() != 0 && label.num() != 0) {
        return invalid("label ", profile.string_table(static_cast<int>(label.key())),
                       " has a string and a number");
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> EncodeProfile(const Profile& profile) {
  std::string plain;
  if (!profile.SerializeToString(&plain)) {
    return absl::ResourceExhaustedError("the profile is too large for protobuf (2 GiB)");
  }
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, /*memLevel=*/8,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    return absl::InternalError("cannot start zlib");
  }
  absl::Cleanup end = [&] { deflateEnd(&stream); };
  std::string packed(deflateBound(&stream, plain.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(plain.data());
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) {
    return absl::InternalError("zlib did not finish within its own bound");
  }
  packed.resize(packed.size() - stream.avail_out);
  return packed;
}

absl::StatusOr<Profile> DecodeProfile(std::string_view bytes, size_t max_size) {
  std::string plain;
  if (bytes.starts_with("\x1f\x8b")) {
    absl::StatusOr<std::string> unpacked = Gunzip(bytes, max_size);
    if (!unpacked.ok()) return unpacked.status();
    plain = *std::move(unpacked);
    bytes = plain;
  }
  if (bytes.size() > max_size) {
    return absl::ResourceExhaustedError(absl::StrCat("more than ", max_size, " bytes"));
  }
  Profile profile;
  if (!profile.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::DataLossError("not a pprof profile (profile.proto, gzipped or not)");
  }
  if (absl::Status status = CheckProfile(profile); !status.ok()) return status;
  return profile;
}

absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes) {
  std::string target = path;
  struct stat info{};
  if (stat(path.c_str(), &info) == 0) {
    // A pipe or a device is written to, not replaced.
    if (!S_ISREG(info.st_mode)) {
      const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
      if (fd < 0) return FileError("cannot open", path, errno);
      absl::Cleanup close_file = [&] { close(fd); };
      return WriteAll(fd, bytes, path);
    }
    // A link stays one: what it leads to is replaced.
    if (char* resolved = realpath(path.c_str(), nullptr)) {
      target = resolved;
      std::free(resolved);
    }
  }

  static std::atomic<uint64_t> files{0};
  const std::string temporary = absl::StrCat(target, ".tmp.", getpid(), ".", files.fetch_add(1));
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return FileError("cannot create", temporary, errno);
  absl::Cleanup remove = [&] { unlink(temporary.c_str()); };
  {
    absl::Cleanup close_file = [&] { close(fd); };
    if (absl::Status status = WriteAll(fd, bytes, temporary); !status.ok()) return status;
    if (fsync(fd) != 0) return FileError("cannot sync", temporary, errno);
  }
  if (rename(temporary.c_str(), target.c_str()) != 0) {
    return FileError("cannot rename a temporary file to", target, errno);
  }
  std::move(remove).Cancel();

  const size_t slash = target.rfind('/');
  const std::string directory = slash == std::string::npos ? "."
                                : slash == 0               ? "/"
                                                           : target.substr(0, slash);
  const int directory_fd = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory_fd < 0) return FileError("cannot open directory", directory, errno);
  absl::Cleanup close_directory = [&] { close(directory_fd); };
  // Some file systems cannot sync directories and say EINVAL; the file is whole all the same.
  if (fsync(directory_fd) != 0 && errno != EINVAL) {
    return FileError("cannot sync directory", directory, errno);
  }
  return absl::OkStatus();
}

absl::Status WriteProfile(const Profile& profile, const std::string& path) {
  if (absl::Status status = CheckProfile(profile); !status.ok()) return status;
  absl::StatusOr<std::string> bytes = EncodeProfile(profile);
  if (!bytes.ok()) return bytes.status();
  return WriteFileAtomically(path, *bytes);
}

absl::StatusOr<Profile> ReadProfile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return FileError("cannot open profile", path, errno);
  absl::Cleanup close_file = [&] { close(fd); };
  std::string bytes;
  char buffer[64 * 1024];
  ssize_t got = 0;
  while ((got = read(fd, buffer, sizeof(buffer))) != 0) {
    if (got < 0) {
      if (errno == EINTR) continue;
      return FileError("cannot read profile", path, errno);
    }
    bytes.append(buffer, static_cast<size_t>(got));
    if (bytes.size() > kMaxProfileBytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat("profile ", path, " is larger than ", kMaxProfileBytes, " bytes"));
    }
  }
  absl::StatusOr<Profile> profile = DecodeProfile(bytes);
  if (!profile.ok()) {
    return absl::Status(profile.status().code(),
                        absl::StrCat(path, ": ", profile.status().message()));
  }
  return profile;
}

}  // namespace blockreplay::profiling
