#include "replay/import/disk_space.h"

#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "replay/engine/database_dir.h"

namespace blockreplay::replay {
namespace {

namespace fs = std::filesystem;

// The device of what exists of `path`.
std::optional<dev_t> DeviceOf(fs::path path) {
  std::error_code error;
  path = fs::absolute(path, error);
  for (; !error; path = path.parent_path()) {
    struct stat status{};
    if (stat(path.c_str(), &status) == 0) return status.st_dev;
    if (path == path.parent_path()) break;
  }
  return std::nullopt;
}

std::string Mib(uint64_t bytes) { return absl::StrCat((bytes + (1 << 20) - 1) >> 20, " MiB"); }
std::string Free(uint64_t bytes) { return absl::StrCat(bytes >> 20, " MiB"); }

// What is short where `least` (or the likely) bytes are needed; empty if nothing is.
std::string Shortage(const DiskNeed& need, const DiskPlaces& places, bool likely) {
  const auto bytes = [&](const DiskBytes& of) { return likely ? of.likely : of.least; };
  const char* const how = likely ? "about " : "at least ";
  if (places.same_disk) {
    const uint64_t both = bytes(need.recording) + bytes(need.scratch);
    if (both <= places.recording_free) return {};
    return absl::StrCat("the recording and the replay's database need ", how, Mib(both),
                        ", but the disk of ", places.recording, " and ", places.scratch, " has ",
                        Free(places.recording_free),
                        " free: make room, or put one of them elsewhere (--out, TMPDIR)");
  }
  if (bytes(need.recording) > places.recording_free) {
    return absl::StrCat("the recording needs ", how, Mib(bytes(need.recording)),
                        ", but the disk of ", places.recording, " has ",
                        Free(places.recording_free), " free: make room or give another --out");
  }
  if (bytes(need.scratch) > places.scratch_free) {
    return absl::StrCat("the replay's database needs ", how, Mib(bytes(need.scratch)),
                        ", but the disk of ", places.scratch, " has ", Free(places.scratch_free),
                        " free: make room or set TMPDIR");
  }
  return {};
}

}  // namespace

absl::StatusOr<DiskPlaces> FindDiskPlaces(const std::string& out) {
  DiskPlaces places;
  places.recording = out;
  std::error_code error;
  places.scratch = fs::temp_directory_path(error).string();
  absl::StatusOr<uint64_t> free = FreeDiskBytes(places.recording);
  if (!free.ok()) return free.status();
  places.recording_free = *free;
  free = FreeDiskBytes(places.scratch);
  if (!free.ok()) return free.status();
  places.scratch_free = *free;
  places.same_disk = DeviceOf(places.recording) == DeviceOf(places.scratch);
  return places;
}

absl::StatusOr<std::string> CheckDiskSpace(const DiskNeed& need, const DiskPlaces& places) {
  if (const std::string text = Shortage(need, places, /*likely=*/false); !text.empty()) {
    return absl::ResourceExhaustedError(text);
  }
  return Shortage(need, places, /*likely=*/true);
}

}  // namespace blockreplay::replay
