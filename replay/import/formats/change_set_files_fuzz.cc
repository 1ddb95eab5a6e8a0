// The bytes are a file of change sets.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "replay/import/formats/change_set_files.h"
#include "replay/recording/test_recording.h"

namespace {

const blockreplay::replay::TemporaryDir& Folder() {
  static const auto* folder = new blockreplay::replay::TemporaryDir;
  static const int registered = std::atexit([] { delete folder; });
  (void)registered;
  return *folder;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string path = Folder().Path("block-1");
  blockreplay::replay::WriteBytes(path, std::string(reinterpret_cast<const char*>(data), size));
  blockreplay::replay::ChangeSetReader reader("store", {path});
  for (bool skip = false;; skip = !skip) {
    const absl::StatusOr<int64_t> version = reader.NextVersion();
    if (!version.ok() || *version == 0) return 0;
    blockreplay::replay::ChangeSetReader::Writes writes;
    if (!(skip ? reader.SkipWrites() : reader.ReadWrites(&writes)).ok()) return 0;
  }
}
