#include "replay/inspect/export.h"

#include <unistd.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "blockreplay/v1/recording.pb.h"
#include "nlohmann/json.hpp"
#include "replay/inspect/change_set.h"
#include "replay/recording/file_io.h"
#include "replay/recording/recording_writer.h"
#include "storage/multistore/snapshot.h"

namespace blockreplay::replay {
namespace {

using storage::MultistoreView;

constexpr size_t kBufferSize = size_t{1} << 20;

std::string Hex(std::string_view bytes) {
  return absl::BytesToHexString(absl::string_view(bytes.data(), bytes.size()));
}

// Where lines go: a file under a temporary name until it is whole, or stdout.
class LineSink {
 public:
  static absl::StatusOr<LineSink> Open(const std::string& path) {
    if (path == "-") return LineSink(std::nullopt, path);
    absl::StatusOr<OutputFile> file = OutputFile::Create(path + ".tmp");
    if (!file.ok()) return file.status();
    return LineSink(*std::move(file), path);
  }

  absl::Status Append(std::string_view line) {
    buffer_ += line;
    return buffer_.size() < kBufferSize ? absl::OkStatus() : Flush();
  }

  absl::Status Finish() {
    if (absl::Status status = Flush(); !status.ok() || !file_) return status;
    if (absl::Status status = file_->Close(); !status.ok()) return status;
    std::error_code error;
    std::filesystem::rename(file_->path(), path_, error);
    return error ? ErrnoStatus(error.value(), "rename a temporary file to", path_)
                 : absl::OkStatus();
  }

 private:
  LineSink(std::optional<OutputFile> file, std::string path)
      : file_(std::move(file)), path_(std::move(path)) {}

  absl::Status Flush() {
    absl::Status status;
    if (file_) {
      status = file_->Write(buffer_);
    } else {
      for (size_t done = 0; done < buffer_.size() && status.ok();) {
        const ssize_t size = ::write(STDOUT_FILENO, buffer_.data() + done, buffer_.size() - done);
        if (size < 0) {
          status = ErrnoStatus(errno, "write", "standard output");
        } else {
          done += static_cast<size_t>(size);
        }
      }
    }
    buffer_.clear();
    return status;
  }

  std::optional<OutputFile> file_;
  std::string path_;
  std::string buffer_;
};

void AddCommitInfo(const storage::CommitInfo& info, v1::Block* block) {
  block->mutable_commit_info()->ParseFromString(storage::EncodeCommitInfo(info));
  block->set_app_hash(storage::ToRaw(storage::AppHash(info)));
  block->mutable_request()->mutable_time()->set_seconds(info.time.seconds);
  block->mutable_request()->mutable_time()->set_nanos(info.time.nanos);
}

absl::Status AddSnapshot(const InspectedDatabase& database, int64_t height, const std::string& path,
                         RecordingWriter* writer) {
  const std::filesystem::path folder = path + "/snapshot";
  absl::Status status = ExportSnapshot(database, height, folder.string());
  std::error_code error;
  for (auto it = std::filesystem::directory_iterator(folder, error);
       status.ok() && !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    status = writer->AddExistingFile(absl::StrCat("snapshot/", it->path().filename().string()));
  }
  return status;
}

}  // namespace

absl::StatusOr<int64_t> ExportJson(const InspectedDatabase& database, int64_t height,
                                   const std::string& store, const std::string& path) {
  absl::StatusOr<std::unique_ptr<MultistoreView>> view = database.View(height);
  if (!view.ok()) return view.status();
  if (!store.empty() && (*view)->commit_info().Find(store) == nullptr) {
    return absl::NotFoundError(
        absl::StrCat(database.path(), " at height ", height, " has no store \"", store, "\""));
  }
  absl::StatusOr<LineSink> sink = LineSink::Open(path);
  if (!sink.ok()) return sink.status();
  int64_t keys = 0;
  for (const storage::StoreInfo& info : (*view)->commit_info().stores) {
    if (store.empty() ? info.hash == storage::Hash{} : info.name != store) continue;
    absl::StatusOr<const storage::Reader*> reader = (*view)->reader(info.name);
    if (!reader.ok()) return reader.status();
    const std::string name = nlohmann::json(info.name).dump();
    const std::unique_ptr<storage::Iterator> it =
        (*reader)->NewIterator(storage::KeyRange::All(), storage::Direction::kForward);
    for (; it->Valid(); it->Next()) {
      ++keys;
      if (absl::Status status =
              sink->Append(absl::StrCat("{\"store\":", name, ",\"key\":\"", Hex(it->key()),
                                        "\",\"value\":\"", Hex(it->value()), "\"}\n"));
          !status.ok()) {
        return status;
      }
    }
    if (!it->status().ok()) return it->status();
  }
  if (absl::Status status = sink->Finish(); !status.ok()) return status;
  return keys;
}

absl::Status ExportSnapshot(const InspectedDatabase& database, int64_t height,
                            const std::string& path) {
  absl::StatusOr<std::unique_ptr<MultistoreView>> view = database.View(height);
  if (!view.ok()) return view.status();
  return storage::CreateSnapshot(view->get(), path,
                                 [](const storage::SnapshotProgress&) { return absl::OkStatus(); })
      .status();
}

absl::Status ExportChangeSets(const InspectedDatabase& database, int64_t since, int64_t height,
                              const std::string& chain_id, const std::string& path) {
  if (since < 0 || since >= height) {
    return absl::InvalidArgumentError(
        absl::StrCat("--since ", since, " is not below height ", height));
  }
  absl::StatusOr<std::unique_ptr<RecordingWriter>> writer = RecordingWriter::Create(path, {});
  if (!writer.ok()) return writer.status();
  Manifest manifest;
  manifest.chain_id = chain_id;
  manifest.application_name = "unknown";
  manifest.application_version = "unknown";
  manifest.document = {
      {"notes", {{"origin", absl::StrCat("change sets exported from ", database.path())}}}};

  std::unique_ptr<MultistoreView> before;
  if (since > 0) {
    absl::StatusOr<std::unique_ptr<MultistoreView>> view = database.View(since);
    if (!view.ok()) return view.status();
    before = *std::move(view);
    manifest.base = Manifest::Base{since, storage::ToRaw(storage::AppHash(before->commit_info()))};
    if (absl::Status status = AddSnapshot(database, since, path, writer->get()); !status.ok()) {
      return status;
    }
  }
  for (int64_t version = since + 1; version <= height; ++version) {
    absl::StatusOr<std::unique_ptr<MultistoreView>> after = database.View(version);
    if (!after.ok()) return after.status();
    v1::Block block;
    block.set_height(version);
    block.mutable_request()->set_height(version);
    if (version == 1) block.mutable_init_chain()->set_chain_id(chain_id);
    if (absl::Status status = AddChanges(before.get(), after->get(), &block); !status.ok()) {
      return status;
    }
    AddCommitInfo((*after)->commit_info(), &block);
    if (absl::Status status = (*writer)->AppendBlock(block); !status.ok()) return status;
    before = *std::move(after);
  }
  for (const storage::StoreInfo& info : before->commit_info().stores) {
    manifest.stores.push_back(info.name);
  }
  return (*writer)->Finish(std::move(manifest)).status();
}

}  // namespace blockreplay::replay
