#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "blockreplay/v1/recording.pb.h"
#include "replay/recording/line_reader.h"

namespace blockreplay::replay {

// What a Cosmos SDK node started with `--trace-store FILE` writes: a JSON object a line for every
// operation that goes through a cache layer of any of its stores,
//   {"operation":"write","key":<base64>,"value":<base64>,
//    "metadata":{"store_name":…,"blockHeight":…,"txHash":…}}      (metadata may be null)
// with read, write, delete, iterKey and iterValue. Layers trace each for itself and are not marked,
// CheckTx and queries are in there as well.
struct TraceOperation {
  enum class Kind { kRead, kWrite, kDelete };  // iterators read

  Kind kind = Kind::kRead;
  std::string store;  // empty where the metadata is null
  std::string key;    // raw, as the value
  std::string value;
  int64_t label = 0;    // blockHeight; 0 where there is none
  std::string tx_hash;  // upper-case hex; empty where there is none
};

// Not thread-safe.
class StoreTraceReader {
 public:
  // `.zst` and `.gz` are decompressed.
  static absl::StatusOr<std::unique_ptr<StoreTraceReader>> Open(const std::string& path);

  // False at the end. A last line without line end is an operation that the node did not finish
  // writing, and is left out. Reads carry neither key nor value. Errors name file and line.
  absl::StatusOr<bool> Next(TraceOperation* operation);
  // kDataLoss about the last line.
  absl::Status Malformed(const std::string& problem) const { return lines_.Malformed(problem); }

 private:
  explicit StoreTraceReader(LineReader lines) : lines_(std::move(lines)) {}

  LineReader lines_;
  std::string line_;
};

// Writes that follow each other without a read by the same label in between, all of one transaction
// hash (or none): flushes of one layer or of several.
struct TraceRun {
  std::string tx_hash;
  std::vector<cosmos::store::v1beta1::StoreKVPair> writes;
};

// The part of `run` that one layer's flush can be: the longest end of it in which each store has
// its writes together with keys ascending, which is how a layer is flushed. If flushes of nested
// layers stand before it, they end where it begins: what they wrote is in the flush of the layer
// that they wrote to, so its first store would come again, or its first key would not be greater.
std::vector<cosmos::store::v1beta1::StoreKVPair> LastFlush(const TraceRun& run);

// What a trace tells of one block.
struct TracedBlock {
  int64_t height = 0;
  // The commit: stores in ascending order, keys ascending. It is the block's net writes.
  std::vector<cosmos::store::v1beta1::StoreKVPair> change_set;
  // Everything before it since the last commit, CheckTx included, in order.
  std::vector<TraceRun> runs;
};

// Blocks of a trace in height order. Not thread-safe; memory holds the writes of three blocks.
//
// The rule, found in traces of the SDK 0.53 that begin with a node's start: the last run of a label
// without transaction hash is a commit. Whose, depends on when the node makes a block's layers. A
// validating node makes them while it processes the proposal, and they carry the height before;
// those of the first block after the start carry none, and the first label is its height. A node
// that catches up (and any one before 0.50) makes them in the block itself, and they carry its
// height, but for those that InitChain made, which carry none. Which of the two it is, is told by
// where there are writes. (Before 0.50, CheckTx writes with the label of the commit before: such a
// trace is not understood, and neither is one in which a node that caught up goes on as a
// validating one; the app hashes will not be equal.)
class StoreTraceBlocks {
 public:
  explicit StoreTraceBlocks(std::unique_ptr<StoreTraceReader> reader)
      : reader_(std::move(reader)) {}

  // The next block; nothing at the end. A block at the end of the trace counts once a later label
  // was met: until then its commit may be missing.
  absl::StatusOr<std::optional<TracedBlock>> Next();

 private:
  // kDataLoss where the node was restarted.
  absl::Status Add(TraceOperation operation);
  // Reads on until the first label's block can be given; false where there is none any more.
  absl::StatusOr<bool> Fill();
  // Sets how labels become heights.
  void Decide();

  std::unique_ptr<StoreTraceReader> reader_;
  struct Label {
    std::vector<TraceRun> runs;
    bool last_was_read = true;
  };
  std::map<int64_t, Label> labels_;
  int64_t first_label_ = 0;  // 0: none met yet
  int64_t newest_label_ = 0;
  bool unlabelled_ = false;  // labels_ begins, or began, with what has no label
  // Whether layers carry their own block's height; nothing while that is not decided.
  std::optional<bool> own_heights_;
  int64_t unlabelled_height_ = 0;  // 0: what has no label is no block
  int64_t last_height_ = 0;
  bool ended_ = false;
};

}  // namespace blockreplay::replay
