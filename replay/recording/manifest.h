#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace blockreplay::replay {

// manifest.json of a recording, format "blockreplay.v1". docs/recording-format.md describes the
// fields.
struct Manifest {
  struct File {
    std::string name;  // relative to the recording, parts separated by '/'
    uint64_t size = 0;
    std::string sha256;  // lower-case hex
  };
  // The state that the first block builds on; a recording without one starts at genesis.
  struct Base {
    int64_t height = 0;
    std::string app_hash;  // raw
  };
  // The base is a partial state instead of a snapshot.
  struct PartialBase {
    std::string exec;  // what `run --exec` it has enough for: apply, verify or native
  };

  std::string chain_id;
  std::string application_name;
  std::string application_version;
  int64_t first_height = 0;
  int64_t last_height = 0;
  std::vector<std::string> stores;
  std::string final_app_hash;  // raw
  std::optional<Base> base;
  std::optional<PartialBase> partial_base;  // only with `base`
  std::vector<File> files;
  // All of the document, for what is information only.
  nlohmann::json document;

  int64_t blocks() const { return last_height - first_height + 1; }
  const File* FindFile(std::string_view name) const;
  // The files that hold the stream `stem` in the order of their heights: `<stem>.zst`, or
  // `<stem>-<first height>.zst`, … Empty if there are none.
  std::vector<std::string> StreamFiles(std::string_view stem) const;
};

inline constexpr std::string_view kRecordingFormat = "blockreplay.v1";
inline constexpr std::string_view kManifestName = "manifest.json";
inline constexpr std::string_view kPartialBaseName = "base/state.zst";

// Parses and validates: every required field, hashes, file names that stay inside the recording,
// heights that fit together. Errors name the field and what it should be; `source` names the
// document in them.
absl::StatusOr<Manifest> ParseManifest(std::string_view json, std::string_view source);
absl::StatusOr<Manifest> LoadManifest(const std::string& recording_dir);

// The document of a manifest: its fields over `document`.
std::string ManifestToJson(const Manifest& manifest);

// The recording's digest: lower-case hex of the SHA-256 over the lines "<name> <sha256>\n" of the
// files, sorted by name.
std::string RecordingDigest(const Manifest& manifest);

// Compares the files' sizes and SHA-256 with the manifest. The error names the first file that
// differs.
absl::Status VerifyFiles(const std::string& recording_dir, const Manifest& manifest);

// First height in the name of a stream's part ("blocks-101.zst" -> 101); nothing for "blocks.zst"
// and other names.
std::optional<int64_t> PartFirstHeight(std::string_view stem, std::string_view name);

}  // namespace blockreplay::replay
