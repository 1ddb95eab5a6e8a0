#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "keeper/gno/checker.h"
#include "keeper/gno/tx_runner.h"
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

// A gno.land chain in memory that executes requests and consults nothing else: what a test compares
// with a recording, and what a benchmark measures.
class NativeChain {
 public:
  static constexpr sdk::StoreId kBase = 0;
  static constexpr sdk::StoreId kMain = 1;

  explicit NativeChain(TxRules rules);

  absl::Status InitChain(const tendermint::abci::RequestInitChain& request);
  void BeginBlock(const tendermint::abci::RequestFinalizeBlock& request);
  // Writes go to a branch that stays readable until the next transaction or the end of the block.
  TxResult DeliverTx(std::string_view tx);
  absl::Status EndBlock();
  // Makes the version, and hands back the app hash.
  absl::StatusOr<storage::Hash> Commit();

  // The branch of the phase that ran last.
  const sdk::MultiStore& phase() const { return *phase_; }
  CommittedBlock committed() const;
  sdk::BaseStore* main_store() { return &main_store_; }
  int64_t gas_used_in_block() const { return block_meter_.consumed(); }

 private:
  sdk::MultiStore* NewPhase();

  const TxRules rules_;
  storage::MemoryEngine engine_;
  std::unique_ptr<storage::bptree::Tree> tree_;
  TreeStore main_store_;
  sdk::ReaderStore base_store_;
  TxRunner runner_;
  std::unique_ptr<sdk::MultiStore> block_;
  std::unique_ptr<sdk::MultiStore> phase_;
  std::string chain_id_;
  int64_t max_gas_ = -1;
  tendermint::abci::RequestFinalizeBlock request_;
  GasMeter block_meter_ = GasMeter::Infinite();
  int64_t estimated_depth_ = 100;
  std::optional<storage::Hash> app_hash_;
  std::optional<std::string> last_header_;
};

}  // namespace blockreplay::keeper::gno::testing
