#include "replay/recording/test_recording.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <stdlib.h>
#include <zstd.h>

#include <cstdio>
#include <fstream>
#include <iterator>

#include "replay/recording/recording_reader.h"
#include "replay/recording/sha256.h"

namespace blockreplay::replay {
namespace {

void CheckOk(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::abort();
}

template <typename T>
T ValueOf(absl::StatusOr<T> value) {
  CheckOk(value.status());
  return *std::move(value);
}

template <typename Reader, typename Message>
std::vector<Message> ReadAll(const std::string& recording_dir) {
  const Manifest manifest = ValueOf(LoadManifest(recording_dir));
  Reader reader(recording_dir, manifest);
  std::vector<Message> messages;
  Message message;
  while (ValueOf(reader.Next(&message))) messages.push_back(message);
  return messages;
}

}  // namespace

TemporaryDir::TemporaryDir() {
  std::string name = (std::filesystem::temp_directory_path() / "blockreplay-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) std::abort();
  path_ = name;
}

TemporaryDir::~TemporaryDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<v1::Block> ReadBlocks(const std::string& recording_dir) {
  return ReadAll<BlockReader, v1::Block>(recording_dir);
}

std::vector<v1::BlockPhases> ReadPhases(const std::string& recording_dir) {
  return ReadAll<PhasesReader, v1::BlockPhases>(recording_dir);
}

void CopyRecording(const std::string& source, const std::string& target,
                   const std::function<void(v1::Block*)>& edit,
                   const RecordingWriterOptions& options,
                   const std::function<void(v1::BlockPhases*)>& edit_phases) {
  const Manifest manifest = ValueOf(LoadManifest(source));
  const auto writer = ValueOf(RecordingWriter::Create(target, options));
  for (v1::Block& block : ReadBlocks(source)) {
    edit(&block);
    CheckOk(writer->AppendBlock(block));
  }
  if (!manifest.StreamFiles("phases").empty()) {
    for (v1::BlockPhases& phases : ReadPhases(source)) {
      edit_phases(&phases);
      CheckOk(writer->AppendPhases(phases));
    }
  }
  for (const Manifest::File& file : manifest.files) {
    if (file.name.starts_with("snapshot/") || file.name == kPartialBaseName) {
      CheckOk(writer->AddFile(file.name, source + "/" + file.name));
    }
  }
  CheckOk(writer->Finish(manifest).status());
}

std::string Compressed(const std::string& bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3);
  if (ZSTD_isError(size)) std::abort();
  out.resize(size);
  return out;
}

std::string Delimited(const google::protobuf::MessageLite& message) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.WriteVarint64(message.ByteSizeLong());
  message.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

void WriteBytes(const std::string& path, const std::string& bytes) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string ReadBytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void ReplaceFile(const std::string& recording_dir, const std::string& name,
                 const std::string& bytes) {
  WriteBytes(recording_dir + "/" + name, bytes);
  EditManifest(recording_dir, [&](nlohmann::json* document) {
    for (nlohmann::json& file : (*document)["files"]) {
      if (file["name"] != name) continue;
      file["size"] = bytes.size();
      file["sha256"] = HexOf(Sha256Of(bytes));
    }
  });
}

void EditManifest(const std::string& recording_dir,
                  const std::function<void(nlohmann::json*)>& edit) {
  const std::string path = recording_dir + "/manifest.json";
  nlohmann::json document = nlohmann::json::parse(ReadBytes(path));
  edit(&document);
  WriteBytes(path, document.dump(1));
}

}  // namespace blockreplay::replay
