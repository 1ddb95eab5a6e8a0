#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "blockreplay/v1/recording.pb.h"
#include "cosmos/store/streaming/abci/grpc.pb.h"
#include "replay/record/block_log.h"

namespace blockreplay::replay {

struct RecorderOptions {
  std::string dir;
  BlockLogOptions log;
  // Tell the node nothing of blocks that could not be recorded. Otherwise it gets the error, logs
  // it, and stops if its `stop-node-on-err` is set. The block is missing either way.
  bool ignore_errors = false;
};

// Makes blocks of what a node tells its listeners and keeps them in a BlockLog. A call returns when
// the block is written: there is no queue to lose, memory is bounded by one block, and a node that
// is faster than the disk waits. Any thread.
//
// * A block that is there already (the node executed it again) is compared. Equal request, writes
// and app hash: nothing happens.
//   Otherwise the new one counts, and the recorded blocks from that height on are set aside.
// * A block that does not follow any other begins another range: what lies between is a gap.
// * Where the folder cannot be opened or written, every call tries again.
class Recorder {
 public:
  explicit Recorder(RecorderOptions options);

  // Opens the folder, waiting up to `patience` for another process that has it. Failing is no
  // reason not to go on: later calls open it.
  void Open(absl::Duration patience);

  // The two halves of a block, as the node tells them.
  absl::Status FinalizeBlock(
      const cosmos::store::streaming::abci::ListenFinalizeBlockRequest& message);
  absl::Status Commit(const cosmos::store::streaming::abci::ListenCommitRequest& message);

  void Close();

 private:
  absl::Status OpenLog(absl::Duration patience);
  absl::Status TakeResults(
      const cosmos::store::streaming::abci::ListenFinalizeBlockRequest& message);
  absl::Status TakeWrites(const cosmos::store::streaming::abci::ListenCommitRequest& message);
  absl::Status Record(const v1::Block& block);
  // What the node is told of it.
  absl::Status Answer(int64_t height, const absl::Status& status) const;

  const RecorderOptions options_;
  std::mutex mutex_;
  std::unique_ptr<BlockLog> log_;     // null: not open
  std::optional<v1::Block> pending_;  // finalized, its writes are awaited
};

}  // namespace blockreplay::replay
