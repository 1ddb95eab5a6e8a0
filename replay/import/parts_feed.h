#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "replay/import/block_feed.h"
#include "replay/import/recording_completion.h"
#include "replay/recording/recording_reader.h"

namespace blockreplay::replay {

// What a recording that is not finished says about itself, instead of manifest.json: an object with
// `chain_id`, `application` {`name`, `version`}, `stores` (optional), and the members of `origin`.
inline constexpr char kDraftName[] = "manifest.draft.json";

absl::Status WriteDraft(const std::string& dir, const FeedSource& source);

// The parts `blocks-<first height>.zst` (or `blocks.zst`) of a folder without a manifest, as a
// recorder leaves them. Parts that begin again at a height that was there already (the node
// executed it again) are joined: the first copy counts.
class PartsFeed final : public BlockFeed {
 public:
  // Reads the draft and lists the parts. kNotFound: there are none.
  static absl::StatusOr<std::unique_ptr<PartsFeed>> Open(const std::string& dir);

  FeedSource source() const override { return source_; }
  HeightRange range() const override { return {first_height_, 0}; }
  absl::StatusOr<bool> Next(FedBlock* block) override;

 private:
  PartsFeed(FeedSource source, int64_t first_height, std::string dir,
            std::vector<std::string> parts)
      : source_(std::move(source)),
        first_height_(first_height),
        stream_(std::move(dir), std::move(parts)),
        next_height_(first_height) {}

  FeedSource source_;
  const int64_t first_height_;
  PartedStream stream_;
  int64_t next_height_;
  std::string message_;
};

// Makes a recording of the parts in `dir` where they are: the verified and completed parts replace
// them, then comes the manifest, and the draft goes. Killed at any moment, it can be called again.
// `base`: null where the parts begin at genesis, or `dir` has a `snapshot` already. `options.out`
// is not used. Until it is complete, the parts stay as they are.
absl::StatusOr<CompletionResult> CompleteParts(const std::string& dir, const BaseState* base,
                                               CompletionOptions options,
                                               CompletionObserver* observer);

}  // namespace blockreplay::replay
