#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "blockreplay/v1/recording.pb.h"
#include "nlohmann/json.hpp"
#include "tendermint/types/types.pb.h"

namespace blockreplay::replay {

struct HeightRange {
  int64_t first = 0;
  int64_t last = 0;

  friend bool operator==(const HeightRange&, const HeightRange&) = default;
};

// Blocks that a feed compared itself, because their headers are not CometBFT's: as in
// CompletionResult::Checks.
struct FeedChecks {
  int64_t header_app_hashes = 0;
  int64_t header_hashes = 0;
  int64_t data_hashes = 0;
  int64_t results_hashes = 0;
};

// Where blocks come from. What is not known stays as it is here; it becomes `origin` of the
// recording's manifest.
struct FeedSource {
  std::string kind;  // "data directory", "state streaming plugin", …
  std::string chain_id;
  std::string application_name = "unknown";
  std::string application_version = "unknown";
  // What else the manifest says of the application (`build_tags`, …), an object.
  nlohmann::json application_details = nlohmann::json::object();
  std::string node_version;    // "CometBFT 0.38.17"
  std::string genesis_sha256;  // lower-case hex, of the genesis document
  // Names of all stores, also of those that are never written. Needed where a recording starts at
  // genesis; a snapshot says it otherwise.
  std::vector<std::string> stores;
  // Heights that the source could give, ascending, of which the feed is a part; between them it has
  // gaps. Empty: not known.
  std::vector<HeightRange> ranges;
  FeedChecks checks;
  // Anything else worth telling, an object.
  nlohmann::json details = nlohmann::json::object();
};

// A block as far as its source knows it.
struct FedBlock {
  // `height` and the whole change set, per store in the order in which the node applied it;
  // request, response, commit info, app hash and header where the source has them. What is unknown
  // is absent, not made up. `init_chain` on the first block of a chain.
  v1::Block block;
  std::optional<v1::BlockPhases> phases;

  void Clear() {
    block.Clear();
    phases.reset();
  }
};

// What an importer implements: the blocks of one contiguous range, in height order. For one thread.
class BlockFeed {
 public:
  virtual ~BlockFeed() = default;

  // Known before the first block, complete after the last one.
  virtual FeedSource source() const = 0;
  // The range that the feed gives; `last` is 0 where only the end will tell.
  virtual HeightRange range() const = 0;
  // What its blocks take on disk, about; 0 where that is not known.
  virtual uint64_t likely_bytes() const { return 0; }
  // The next block into `*block`, which is clear; false after the last one. Heights are without gap
  // or repetition. Errors name the file or address, and the height. Must return now and then where
  // it waits: kCancelled when InterruptGuard received a signal.
  virtual absl::StatusOr<bool> Next(FedBlock* block) = 0;
  // The header of the block after the last one, which carries the last block's app hash and results
  // hash. To be asked after the last block.
  virtual absl::StatusOr<std::optional<tendermint::types::Header>> HeaderAfterLast() {
    return std::nullopt;
  }
};

}  // namespace blockreplay::replay
