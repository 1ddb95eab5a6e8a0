#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "keeper/chain.h"
#include "keeper/gno/checker.h"
#include "keeper/gno/gnoland.h"
#include "keeper/sdk/store.h"
#include "storage/bptree/tree.h"
#include "storage/kv/memory_engine.h"
#include "tendermint/abci/types.pb.h"

namespace blockreplay::keeper::gno::testing {

// The main store of the committed state.
class TreeStore final : public sdk::BaseStore {
 public:
  explicit TreeStore(const storage::bptree::Tree* tree) : tree_(tree) {}
  std::optional<std::string_view> Get(std::string_view key) override;
  std::unique_ptr<storage::Iterator> NewIterator(const storage::KeyRange& range,
                                                 storage::Direction direction) override;

 private:
  const storage::bptree::Tree* const tree_;
};

// The application in memory, over a tree without a multistore: what tests compare with a recording,
// and what benchmarks measure. Ends the process where something fails that a recording doesn't make
// fail.
class NativeChain {
 public:
  // With `workers`, signatures are verified on them; must outlive it.
  explicit NativeChain(const std::string& chain_id, storage::WorkerPool* workers = nullptr);

  absl::Status InitChain(const tendermint::abci::RequestInitChain& request);
  void BeginBlock(const tendermint::abci::RequestFinalizeBlock& request);
  // Writes go to a branch that stays readable until the next transaction or the end of the block.
  absl::StatusOr<PhaseResult> DeliverTx(int index);
  absl::Status EndBlock();
  // Makes the version, and hands back the app hash.
  absl::StatusOr<storage::Hash> Commit();
  // A whole block.
  absl::StatusOr<storage::Hash> Execute(const tendermint::abci::RequestFinalizeBlock& request);

  // The branch of the phase that ran last.
  const sdk::MultiStore& phase() const { return *phase_; }
  const sdk::MultiStore& genesis_direct() const { return *direct_; }
  CommittedBlock committed() const;
  sdk::BaseStore* main_store() { return &main_store_; }

 private:
  void NewBlock();
  sdk::MultiStore* NewPhase();

  const std::string chain_id_;
  storage::MemoryEngine engine_;
  std::unique_ptr<storage::bptree::Tree> tree_;
  TreeStore main_store_;
  std::unique_ptr<sdk::ReaderStore> base_store_;
  const std::unique_ptr<Chain> chain_;
  // What genesis writes at once, the block over it, the phase over that.
  std::unique_ptr<sdk::MultiStore> direct_;
  std::unique_ptr<sdk::MultiStore> block_;
  std::unique_ptr<sdk::MultiStore> phase_;
  tendermint::abci::RequestFinalizeBlock request_;
  std::string app_hash_;
};

}  // namespace blockreplay::keeper::gno::testing
