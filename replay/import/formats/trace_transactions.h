#pragma once

#include <optional>
#include <string>
#include <vector>

#include "blockreplay/v1/recording.pb.h"
#include "replay/import/formats/store_trace.h"

namespace blockreplay::replay {

// What each transaction of a traced block wrote to the block's layer, as far as the trace tells.
//
// `--trace-store` shows a layer's writes when it is flushed. Begin and end block write to the
// block's layer itself, so their writes are seen in the commit only, last per key and without
// order: which of the two wrote what, how often, or whether a key that a transaction wrote was
// written again with the same value, cannot be told. A transaction has two layers, flushed one
// after the other: the ante handler's, and the messages' if they succeed. All of a transaction's
// writes are in these two.
//
// The flushes are found by transaction hash: the SDK puts a transaction's hash into a context that
// all layers of a block share, when the ante handler's layer has been made. So the messages' flush
// of transaction i carries its own hash, and the ante handler's that of transaction i-1 (none for
// the first).
struct TracedTransactions {
  // One entry per transaction: its writes, ante handler's then messages', each flush with stores in
  // ascending order; nothing where the trace does not tell them apart.
  std::vector<std::optional<std::vector<cosmos::store::v1beta1::StoreKVPair>>> writes;
};

// `block` names the transactions and their results.
TracedTransactions TransactionsOfTrace(const TracedBlock& traced, const v1::Block& block);

}  // namespace blockreplay::replay
