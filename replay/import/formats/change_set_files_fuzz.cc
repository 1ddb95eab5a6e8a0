// The bytes are a file of change sets.
#include <cstddef>
#include <cstdint>

#include "replay/import/formats/change_set_files.h"
#include "replay/import/formats/fuzzed_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  blockreplay::replay::ChangeSetReader reader("store",
                                              {blockreplay::replay::FuzzedFile(data, size)});
  for (bool skip = false;; skip = !skip) {
    const absl::StatusOr<int64_t> version = reader.NextVersion();
    if (!version.ok() || *version == 0) return 0;
    blockreplay::replay::ChangeSetReader::Writes writes;
    if (!(skip ? reader.SkipWrites() : reader.ReadWrites(&writes)).ok()) return 0;
  }
}
