#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "replay/recording/manifest.h"
#include "replay/recording/recording_reader.h"
#include "tendermint/abci/types.pb.h"

namespace blockreplay::replay {

// The transactions of a recording one after the other, and what its blocks were made with. One
// thread.
class TxFeed {
 public:
  // From the blocks above `height` on.
  TxFeed(const std::string& recording_dir, const Manifest& manifest, int64_t height)
      : reader_(recording_dir, manifest), height_(height) {}

  // Nothing after the recording's last.
  absl::StatusOr<std::optional<std::string>> Next();

  // The request of a block of that height without transactions; beyond the recording's last block
  // the one before, a second later. Heights must ascend.
  absl::StatusOr<tendermint::abci::RequestFinalizeBlock> RequestOf(int64_t height);

 private:
  // False at the end.
  absl::StatusOr<bool> ReadBlock();

  BlockReader reader_;
  const int64_t height_;
  v1::Block block_;
  std::deque<std::string> txs_;
  std::map<int64_t, tendermint::abci::RequestFinalizeBlock> requests_;
  tendermint::abci::RequestFinalizeBlock last_;
};

}  // namespace blockreplay::replay
