#pragma once

// What a block replayer knows of a chain. A chain executes one phase at a time on a branch of the
// state; it is given the request and that state, never a recorded response or recorded writes. Its
// writes stay on the branch: the caller decides what becomes of them.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "keeper/sdk/event.h"
#include "keeper/sdk/store.h"
#include "tendermint/abci/types.pb.h"

namespace blockreplay::storage {
class WorkerPool;
}

namespace blockreplay::keeper {

enum class PhaseKind { kInitChain, kBeginBlock, kTx, kEndBlock };

// What a phase answers. Durable only in what the block's results hold.
struct PhaseResult {
  // Transactions.
  uint32_t code = 0;
  std::string codespace;
  int64_t gas_wanted = 0;
  int64_t gas_used = 0;
  std::string data;
  std::string log;  // for people; not part of consensus
  // In the order of emission; for begin and end block with their `mode` attribute.
  sdk::Events events;
  // End block.
  std::vector<tendermint::abci::ValidatorUpdate> validator_updates;
};

// What is committed, besides keys and values.
struct CommittedState {
  std::string app_hash;       // raw; empty before the first version
  std::vector<int64_t> keys;  // how many, by StoreId; 0 for a store without a tree
};

// What CheckTx may do to be faster. None of it changes a result.
struct TxCheckOptions {
  // Decode parameters once per committed height, not once per transaction.
  bool memo_params = true;
  // Take the fee collector's address from there as well. Only with memo_params.
  bool memo_fee_collector = true;
  // Signatures found valid to remember; 0: each is verified each time.
  size_t signature_cache = 0;
};

// A chain's side of a node's mempool connection. Not thread-safe.
class TxChecker {
 public:
  virtual ~TxChecker() = default;

  // A block was committed: `stores` (by StoreId) are the state now, and stay so until the next
  // call. What earlier checks wrote is forgotten.
  virtual absl::Status Committed(const CommittedState& committed,
                                 const std::vector<sdk::BaseStore*>& stores) = 0;

  // A hint: the next calls of CheckTx are for these, in this order. They must live until then.
  virtual void Announce(const std::vector<std::string_view>& /*txs*/) {}

  // CheckTx; a recheck is the same. What a transaction that passes leaves is visible to later ones
  // until the next commit. Errors as of Chain's phases.
  virtual absl::StatusOr<PhaseResult> CheckTx(std::string_view tx) = 0;
};

// Not thread-safe. One block at a time: StartBlock, BeginBlock, DeliverTx in order, EndBlock. What
// a chain remembers from one phase of a block to a later one is in the object; nothing is carried
// over to the next block but caches.
class Chain {
 public:
  virtual ~Chain() = default;

  // Stores by StoreId: names as in the multistore, ascending.
  virtual const std::vector<std::string>& store_names() const = 0;

  // Threads for work whose results do not depend on them. `workers` must outlive the chain and its
  // TxCheckers.
  virtual void UseWorkers(storage::WorkerPool* /*workers*/) {}

  // What is committed when a block starts. To be called before each StartBlock, for chains whose
  // blocks depend on more than keys and values.
  virtual void SetCommitted(CommittedState /*committed*/) {}

  // Genesis, before the first block's StartBlock. `state` is a branch of `direct`, which is one of
  // the empty state. To `direct` goes what the original writes to its trees at once, past the
  // branch of the first block: it is in them before anything else. Errors as for the phases below.
  virtual absl::Status InitChain(const tendermint::abci::RequestInitChain& /*request*/,
                                 sdk::MultiStore* /*direct*/, sdk::MultiStore* /*state*/) {
    return absl::UnimplementedError("genesis");
  }

  // The request must live until the next StartBlock.
  virtual absl::Status StartBlock(const tendermint::abci::RequestFinalizeBlock& request) = 0;

  // Each runs one phase on `state`, a branch of the state after the phases before it.
  // kUnimplemented: there is no native code for (a part of) this phase. kInternal: the state
  // transition breaks an invariant that would stop a node. In both cases what is on the branch is
  // meaningless. Other errors: the state can't be read; replay must stop. A failed transaction is
  // not an error.
  virtual absl::StatusOr<PhaseResult> BeginBlock(sdk::MultiStore* state) = 0;
  virtual absl::StatusOr<PhaseResult> DeliverTx(int index, sdk::MultiStore* state) = 0;
  virtual absl::StatusOr<PhaseResult> EndBlock(sdk::MultiStore* state) = 0;

  // CheckTx of this chain. kUnimplemented: there is no native code for it.
  virtual absl::StatusOr<std::unique_ptr<TxChecker>> NewTxChecker(
      const TxCheckOptions& /*options*/) {
    return absl::UnimplementedError("CheckTx of this chain");
  }

  // Kinds of phases that there is no code for at all: while there are some, nothing can be replayed
  // without its recorded writes.
  virtual std::vector<std::string> missing_phases() const { return {"end block"}; }

  // Short name of the kind of a transaction for reports and profiles, such as "/types.MsgDeposit
  // swap"; never fails.
  virtual std::string DescribeTx(std::string_view tx) const = 0;
  // A stored key as people read it, and a stored value field by field; hex where the type is
  // unknown.
  virtual std::string DescribeKey(std::string_view store, std::string_view key) const = 0;
  virtual std::string DescribeValue(std::string_view store, std::string_view key,
                                    std::string_view value) const = 0;
};

// What of a recording's manifest selects the rules that it was made under.
struct ChainSpec {
  std::string application;  // "thornode"
  std::string version;      // "3.17.0"
  std::string build_tags;   // "mainnet", "regtest,mocknet"
  std::string chain_id;
  // THORChain's test builds: the version that its constants were pinned to, and the regression
  // suite, which names the environment of the node. Empty otherwise.
  std::string constants_version;
  std::string suite;
  // gno.land's recordings: the recorder changed parameters where a transaction's memo says so.
  bool setparam_memos = false;
};

// The one place where chains are registered. kNotFound names what is known.
absl::StatusOr<std::unique_ptr<Chain>> NewChain(const ChainSpec& spec);

}  // namespace blockreplay::keeper
