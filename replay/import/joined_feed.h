#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "replay/import/block_feed.h"
#include "replay/import/import_source.h"
#include "replay/import/rpc_blocks.h"
#include "replay/import/writes_source.h"

namespace blockreplay::replay {

struct JoinedFeedOptions {
  ImportRange range;
  // The genesis document's path, for a range that begins with the chain; empty: none.
  std::string genesis;
};

// Blocks whose writes one source tells, and whose requests, responses and headers the same one or
// an RPC server does. Where both do, what the first tells stays, and must be of the same block.
class JoinedFeed final : public BlockFeed {
 public:
  // `rpc` may be null. kInvalidArgument where the range is not the source's.
  static absl::StatusOr<std::unique_ptr<JoinedFeed>> Create(std::unique_ptr<WritesSource> writes,
                                                            std::unique_ptr<RpcBlocks> rpc,
                                                            const JoinedFeedOptions& options);

  FeedSource source() const override;
  HeightRange range() const override { return range_; }
  absl::StatusOr<bool> Next(FedBlock* block) override;
  absl::StatusOr<std::optional<tendermint::types::Header>> HeaderAfterLast() override;

 private:
  JoinedFeed(std::unique_ptr<WritesSource> writes, std::unique_ptr<RpcBlocks> rpc)
      : writes_(std::move(writes)), rpc_(std::move(rpc)) {}

  absl::Status ReadGenesis(const std::string& path);
  absl::Status AddRpc(v1::Block* block);

  std::unique_ptr<WritesSource> writes_;
  std::unique_ptr<RpcBlocks> rpc_;
  HeightRange range_;
  int64_t next_ = 0;
  std::optional<tendermint::abci::RequestInitChain> init_chain_;
  std::string genesis_sha256_;
};

}  // namespace blockreplay::replay
