#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "blockreplay/v1/recording.pb.h"
#include "replay/recording/manifest.h"
#include "replay/recording/recording_writer.h"

// For tests: falsified copies of recordings, and folders that go away.
namespace blockreplay::replay {

class TemporaryDir {
 public:
  TemporaryDir();
  ~TemporaryDir();
  TemporaryDir(const TemporaryDir&) = delete;
  TemporaryDir& operator=(const TemporaryDir&) = delete;
  std::string Path(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

// All blocks of a recording, and all phases. Aborts on a damaged one.
std::vector<v1::Block> ReadBlocks(const std::string& recording_dir);
std::vector<v1::BlockPhases> ReadPhases(const std::string& recording_dir);

// Copies `source` to `target` with `edit` applied to each block, `edit_phases` to the phases of
// each, and a manifest that fits the result.
void CopyRecording(
    const std::string& source, const std::string& target,
    const std::function<void(v1::Block*)>& edit = [](v1::Block*) {},
    const RecordingWriterOptions& options = {},
    const std::function<void(v1::BlockPhases*)>& edit_phases = [](v1::BlockPhases*) {});

// Varint-length-delimited messages in one zstd frame.
std::string Compressed(const std::string& bytes);
std::string Delimited(const google::protobuf::MessageLite& message);

void WriteBytes(const std::string& path, const std::string& bytes);
std::string ReadBytes(const std::string& path);

// Puts `bytes` in place of a file of the recording, size and SHA-256 in the manifest included.
void ReplaceFile(const std::string& recording_dir, const std::string& name,
                 const std::string& bytes);
// Applies `edit` to manifest.json's text as JSON.
void EditManifest(const std::string& recording_dir,
                  const std::function<void(nlohmann::json*)>& edit);

}  // namespace blockreplay::replay
