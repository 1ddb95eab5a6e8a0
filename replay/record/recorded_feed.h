#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "replay/import/block_feed.h"
#include "replay/import/genesis.h"
#include "replay/record/part_file.h"
#include "replay/record/stream_index.h"

namespace blockreplay::replay {

// The blocks of a range in a recorder's folder, which may be at work. Parts of which the draft
// manifest has the SHA-256 are compared with it.
class RecordedFeed final : public BlockFeed {
 public:
  // `range` lies within one of the ranges of `contents`, what ReadStream read in `dir`. `genesis`:
  // the document of a chain that begins with `range`, its InitChain becomes the first block's.
  RecordedFeed(std::string dir, StreamContents contents, StreamRange range,
               std::optional<Genesis> genesis);

  FeedSource source() const override;
  HeightRange range() const override { return {range_.first, range_.last}; }
  absl::StatusOr<bool> Next(FedBlock* block) override;

 private:
  absl::Status OpenPart(const StreamPart& part);

  const std::string dir_;
  const StreamContents contents_;
  const StreamRange range_;
  const std::optional<Genesis> genesis_;
  std::unique_ptr<PartReader> reader_;
  int64_t reader_last_ = 0;  // last height of the part that is open
  int64_t next_height_;
};

}  // namespace blockreplay::replay
