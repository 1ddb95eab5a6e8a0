// The bytes are a manifest.json. One that is accepted must survive being written and read again.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "replay/recording/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using blockreplay::replay::Manifest;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<Manifest> manifest =
      blockreplay::replay::ParseManifest(text, "manifest.json");
  if (!manifest.ok()) return 0;
  const absl::StatusOr<Manifest> again =
      blockreplay::replay::ParseManifest(ManifestToJson(*manifest), "manifest.json");
  if (!again.ok() || RecordingDigest(*again) != RecordingDigest(*manifest)) std::abort();
  return 0;
}
