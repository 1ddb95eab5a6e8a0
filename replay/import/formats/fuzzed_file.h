#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "replay/recording/test_recording.h"

namespace blockreplay::replay {

// For fuzzers of what reads files: a file of these bytes, in a folder that goes away with the
// process. The file of the call before is overwritten.
inline std::string FuzzedFile(const uint8_t* data, size_t size) {
  static const auto* const folder = new TemporaryDir;
  static const int registered = std::atexit([] { delete folder; });
  (void)registered;
  std::string path = folder->Path("input");
  WriteBytes(path, std::string(reinterpret_cast<const char*>(data), size));
  return path;
}

}  // namespace blockreplay::replay
