#include "replay/recording/recording_reader.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

namespace blockreplay::replay {
namespace {

// Reads the next message, parses it, and checks that its height is the one that must come.
template <typename Message>
absl::StatusOr<bool> NextOfHeight(const char* stem, PartedStream* stream, int64_t last_height,
                                  int64_t* next_height, std::string* bytes, Message* message) {
  absl::StatusOr<bool> more = stream->Next(bytes);
  if (!more.ok()) {
    return absl::Status(more.status().code(),
                        absl::StrCat(more.status().message(), " (height ", *next_height, ")"));
  }
  if (!*more) {
    if (*next_height > last_height) return false;
    return absl::DataLossError(absl::StrCat("the recording's ", stem, " end before height ",
                                            *next_height, "; manifest.json says that ", last_height,
                                            " is the last"));
  }
  if (!message->ParseFromString(*bytes)) {
    return absl::DataLossError(absl::StrCat(stream->Where(), " (height ", *next_height,
                                            "): not a valid ", message->GetTypeName()));
  }
  const int64_t height = message->height();
  if (*next_height > last_height) {
    return absl::DataLossError(absl::StrCat(stream->Where(), ": height ", height,
                                            " comes after the last height of manifest.json, ",
                                            last_height));
  }
  if (height != *next_height) {
    return absl::DataLossError(absl::StrCat(
        stream->Where(), ": has height ", height, ", but ", *next_height, " must come here (",
        height < *next_height ? "a repeated or reordered block" : "a block is missing", ")"));
  }
  if (stream->first_of_part()) {
    const std::optional<int64_t> named = PartFirstHeight(stem, stream->part());
    if (named && *named != height) {
      return absl::DataLossError(absl::StrCat(stream->part(), ": begins with height ", height,
                                              ", its name says ", *named));
    }
  }
  ++*next_height;
  return true;
}

}  // namespace

PartedStream::PartedStream(std::string recording_dir, std::vector<std::string> parts)
    : recording_dir_(std::move(recording_dir)), parts_(std::move(parts)) {}

absl::StatusOr<bool> PartedStream::Next(std::string* message) {
  for (;;) {
    if (reader_ == nullptr) {
      if (index_ == parts_.size()) return false;
      const std::string path = absl::StrCat(recording_dir_, "/", parts_[index_]);
      absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenZstdFile(path);
      if (!source.ok()) return source.status();
      reader_ = std::make_unique<DelimitedReader>(*std::move(source), path);
      ++index_;
      first_of_part_ = true;
    } else {
      first_of_part_ = false;
    }
    absl::StatusOr<bool> more = reader_->Next(message);
    if (!more.ok() || *more) return more;
    reader_ = nullptr;
  }
}

std::string PartedStream::Where() const {
  return reader_ != nullptr ? reader_->Where() : recording_dir_;
}

BlockReader::BlockReader(const std::string& recording_dir, const Manifest& manifest)
    : stream_(recording_dir, manifest.StreamFiles("blocks")),
      next_height_(manifest.first_height),
      last_height_(manifest.last_height) {}

absl::StatusOr<bool> BlockReader::Next(v1::Block* block) {
  return NextOfHeight("blocks", &stream_, last_height_, &next_height_, &message_, block);
}

PhasesReader::PhasesReader(const std::string& recording_dir, const Manifest& manifest)
    : stream_(recording_dir, manifest.StreamFiles("phases")),
      next_height_(manifest.first_height),
      last_height_(manifest.last_height) {}

absl::StatusOr<bool> PhasesReader::Next(v1::BlockPhases* phases) {
  return NextOfHeight("phases", &stream_, last_height_, &next_height_, &message_, phases);
}

PartialBaseReader::PartialBaseReader(const std::string& recording_dir)
    : stream_(recording_dir, {std::string(kPartialBaseName)}) {}

absl::StatusOr<const v1::PartialStateItem*> PartialBaseReader::Next() {
  absl::StatusOr<bool> more = stream_.Next(&message_);
  if (!more.ok()) return more.status();
  if (!*more) return nullptr;
  if (!item_.ParseFromString(message_)) {
    return absl::DataLossError(
        absl::StrCat(stream_.Where(), ": not a valid ", item_.GetTypeName()));
  }
  return &item_;
}

}  // namespace blockreplay::replay
