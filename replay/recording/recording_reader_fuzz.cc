// The bytes are a recording's blocks.zst, read by everything that a replay reads it with. The first
// byte chooses whether they are compressed first, so that messages behind the compression are
// reached too.
#include <zstd.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "blockreplay/v1/recording.pb.h"
#include "replay/recording/delimited_reader.h"
#include "replay/recording/recording_reader.h"
#include "replay/recording/test_recording.h"

namespace {

using blockreplay::replay::BlockReader;
using blockreplay::replay::Manifest;

const blockreplay::replay::TemporaryDir& Folder() {
  static const auto* folder = new blockreplay::replay::TemporaryDir;
  static const int registered = std::atexit([] { delete folder; });
  (void)registered;
  return *folder;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  blockreplay::replay::WriteBytes(
      Folder().Path("blocks.zst"),
      data[0] % 2 == 0 ? blockreplay::replay::Compressed(bytes) : bytes);
  Manifest manifest;
  manifest.first_height = 1;
  manifest.last_height = 3;
  manifest.files.push_back({"blocks.zst", 0, ""});
  BlockReader reader(Folder().Path("."), manifest);
  blockreplay::v1::Block block;
  for (;;) {
    const absl::StatusOr<bool> more = reader.Next(&block);
    if (!more.ok() || !*more) break;
  }
  return 0;
}
