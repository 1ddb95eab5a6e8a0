#include "replay/import/writes_source.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/import/formats/change_set_files.h"
#include "replay/import/formats/store_trace.h"
#include "replay/import/formats/stream_files.h"
#include "replay/recording/manifest.h"
#include "replay/recording/recording_reader.h"

namespace blockreplay::replay {
namespace {

class StreamWrites final : public WritesSource {
 public:
  explicit StreamWrites(StreamFiles files) : files_(std::move(files)) {}

  // Reads the first block, for its chain.
  absl::Status Init() {
    source_.kind = "state streaming files";
    for (const auto& [height, has_meta] : files_.heights()) {
      if (source_.ranges.empty() || source_.ranges.back().last + 1 != height) {
        source_.ranges.push_back({height, height});
      }
      source_.ranges.back().last = height;
    }
    v1::Block first;
    if (absl::Status status = files_.Read(range().first, &first); !status.ok()) return status;
    source_.chain_id = first.header().chain_id();
    return absl::OkStatus();
  }

  FeedSource source() const override { return source_; }
  // The first contiguous one.
  HeightRange range() const override { return source_.ranges.front(); }
  absl::Status Read(int64_t height, FedBlock* fed) override {
    if (height > files_.heights().rbegin()->first) {
      return absl::OutOfRangeError(absl::StrCat("there is no file for block ", height));
    }
    v1::Block* const block = &fed->block;
    if (absl::Status status = files_.Read(height, block); !status.ok()) return status;
    if (block->has_header() && block->header().chain_id() != source_.chain_id) {
      return absl::DataLossError(absl::StrCat("block ", height, " is of chain ",
                                              block->header().chain_id(), ", the first one of ",
                                              source_.chain_id));
    }
    return absl::OkStatus();
  }

 private:
  StreamFiles files_;
  FeedSource source_;
};

class ChangeSetWrites final : public WritesSource {
 public:
  explicit ChangeSetWrites(ChangeSetFiles files) : files_(std::move(files)) {}

  absl::Status Init() {
    absl::StatusOr<int64_t> first = files_.FirstVersion();
    if (!first.ok()) return first.status();
    range_.first = *first;
    return absl::OkStatus();
  }

  FeedSource source() const override {
    FeedSource source;
    source.kind = "change set files";
    source.stores = files_.stores();
    return source;
  }
  HeightRange range() const override { return range_; }
  absl::Status Read(int64_t height, FedBlock* fed) override {
    return files_.Read(height, fed->block.mutable_change_set());
  }

 private:
  ChangeSetFiles files_;
  HeightRange range_;
};

class TraceWrites final : public WritesSource {
 public:
  explicit TraceWrites(std::unique_ptr<StoreTraceReader> reader) : blocks_(std::move(reader)) {}

  absl::Status Init() {
    if (absl::Status status = Advance(); !status.ok()) return status;
    if (!next_.has_value()) {
      return absl::NotFoundError(
          "the trace has no block that was committed: it must reach into the block after it");
    }
    first_ = next_->height;
    return absl::OkStatus();
  }

  FeedSource source() const override {
    FeedSource source;
    source.kind = "store trace";
    return source;
  }
  HeightRange range() const override { return {first_, 0}; }
  absl::Status Read(int64_t height, FedBlock* fed) override {
    while (next_.has_value() && next_->height < height) {
      if (absl::Status status = Advance(); !status.ok()) return status;
    }
    if (!next_.has_value()) {
      return absl::OutOfRangeError(
          absl::StrCat("the trace ends before block ", height, " is committed"));
    }
    if (next_->height > height) return absl::OkStatus();  // it wrote nothing
    for (auto& write : next_->change_set) *fed->block.add_change_set() = std::move(write);
    return absl::OkStatus();
  }

 private:
  absl::Status Advance() {
    absl::StatusOr<std::optional<TracedBlock>> block = blocks_.Next();
    if (!block.ok()) return block.status();
    next_ = *std::move(block);
    return absl::OkStatus();
  }

  StoreTraceBlocks blocks_;
  std::optional<TracedBlock> next_;
  int64_t first_ = 0;
};

class RecordingWrites final : public WritesSource {
 public:
  RecordingWrites(const std::string& dir, Manifest manifest)
      : manifest_(std::move(manifest)), blocks_(dir, manifest_) {
    if (!manifest_.StreamFiles("phases").empty()) phases_.emplace(dir, manifest_);
  }

  FeedSource source() const override {
    FeedSource source;
    source.kind = "recording";
    source.chain_id = manifest_.chain_id;
    source.application_name = manifest_.application_name;
    source.application_version = manifest_.application_version;
    source.application_details = manifest_.document.at("application");
    if (!manifest_.base) source.stores = manifest_.stores;
    source.ranges = {range()};
    source.details["recording_digest"] = RecordingDigest(manifest_);
    return source;
  }
  HeightRange range() const override { return {manifest_.first_height, manifest_.last_height}; }
  absl::Status Read(int64_t height, FedBlock* fed) override {
    if (phases_.has_value()) {
      if (absl::Status status = Advance(height, &*phases_, &fed->phases.emplace()); !status.ok()) {
        return status;
      }
    }
    return Advance(height, &blocks_, &fed->block);
  }

 private:
  template <typename Reader, typename Message>
  static absl::Status Advance(int64_t height, Reader* reader, Message* message) {
    do {
      const absl::StatusOr<bool> more = reader->Next(message);
      if (!more.ok()) return more.status();
      if (!*more) {
        return absl::OutOfRangeError(absl::StrCat("the recording ends before block ", height));
      }
    } while (message->height() < height);
    return absl::OkStatus();
  }

  const Manifest manifest_;
  BlockReader blocks_;
  std::optional<PhasesReader> phases_;
};

template <typename Source, typename Opened>
absl::StatusOr<std::unique_ptr<WritesSource>> Start(absl::StatusOr<Opened> opened) {
  if (!opened.ok()) return opened.status();
  auto source = std::make_unique<Source>(*std::move(opened));
  if (absl::Status status = source->Init(); !status.ok()) return status;
  return source;
}

}  // namespace

absl::StatusOr<std::unique_ptr<WritesSource>> OpenStreamWrites(const std::string& dir) {
  return Start<StreamWrites>(StreamFiles::Open(dir));
}

absl::StatusOr<std::unique_ptr<WritesSource>> OpenChangeSetWrites(const std::string& dir) {
  return Start<ChangeSetWrites>(ChangeSetFiles::Open(dir));
}

absl::StatusOr<std::unique_ptr<WritesSource>> OpenTraceWrites(const std::string& path) {
  return Start<TraceWrites>(StoreTraceReader::Open(path));
}

absl::StatusOr<std::unique_ptr<WritesSource>> OpenRecordingWrites(const std::string& dir) {
  absl::StatusOr<Manifest> manifest = LoadManifest(dir);
  if (!manifest.ok()) return manifest.status();
  if (absl::Status status = VerifyFiles(dir, *manifest); !status.ok()) return status;
  return std::make_unique<RecordingWrites>(dir, *std::move(manifest));
}

}  // namespace blockreplay::replay
