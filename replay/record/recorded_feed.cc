#include "replay/record/recorded_feed.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/engine/interrupt.h"
#include "replay/recording/sha256.h"

namespace blockreplay::replay {

RecordedFeed::RecordedFeed(std::string dir, StreamContents contents, StreamRange range,
                           std::optional<Genesis> genesis)
    : dir_(std::move(dir)),
      contents_(std::move(contents)),
      range_(range),
      genesis_(std::move(genesis)),
      next_height_(range.first) {}

FeedSource RecordedFeed::source() const {
  const StreamNames& names = contents_.index.names;
  FeedSource source;
  source.kind = "state streaming plugin";
  source.chain_id = names.chain_id;
  if (!names.application_name.empty()) source.application_name = names.application_name;
  if (!names.application_version.empty()) source.application_version = names.application_version;
  if (genesis_) {
    source.genesis_sha256 = genesis_->sha256;
    if (source.chain_id.empty()) source.chain_id = genesis_->init_chain.chain_id();
  }
  for (const StreamRange& range : RangesOf(contents_.index.parts))
    source.ranges.push_back({range.first, range.last});
  return source;
}

absl::Status RecordedFeed::OpenPart(const StreamPart& part) {
  const std::string path = absl::StrCat(dir_, "/", part.name());
  std::error_code error;
  // A part that grows meanwhile is another file than the one that was hashed.
  if (!part.sha256.empty() && std::filesystem::file_size(path, error) == part.size) {
    absl::StatusOr<Sha256Digest> sha256 = Sha256OfFile(path);
    if (!sha256.ok()) return sha256.status();
    if (HexOf(*sha256) != part.sha256) {
      return absl::DataLossError(absl::StrCat(path, " is not what was recorded: its SHA-256 is ",
                                              HexOf(*sha256), ", the recorder's file had ",
                                              part.sha256));
    }
  }
  absl::StatusOr<std::unique_ptr<PartReader>> reader = PartReader::Open(path);
  if (!reader.ok()) return reader.status();
  reader_ = *std::move(reader);
  reader_last_ = part.last;
  return absl::OkStatus();
}

absl::StatusOr<bool> RecordedFeed::Next(FedBlock* block) {
  if (InterruptGuard::Received() != 0) return absl::CancelledError("interrupted");
  if (next_height_ > range_.last) return false;
  if (reader_ == nullptr || next_height_ > reader_last_) {
    const StreamPart* const part = FindPart(contents_.index.parts, next_height_);
    if (part == nullptr) {
      return absl::NotFoundError(absl::StrCat(dir_, " has no block ", next_height_));
    }
    if (absl::Status status = OpenPart(*part); !status.ok()) return status;
  }
  do {
    absl::StatusOr<bool> more = reader_->Next(&block->block);
    if (!more.ok()) return more.status();
    if (!*more || block->block.height() > next_height_) {
      return absl::DataLossError(
          absl::StrCat(dir_, ": block ", next_height_, " is not where it was a moment ago"));
    }
  } while (block->block.height() < next_height_);
  if (genesis_ && next_height_ == range_.first)
    *block->block.mutable_init_chain() = genesis_->init_chain;
  ++next_height_;
  return true;
}

}  // namespace blockreplay::replay
