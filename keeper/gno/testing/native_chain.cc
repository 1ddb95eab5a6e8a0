#include "keeper/gno/testing/native_chain.h"

#include <utility>

#include "keeper/gno/end_block.h"
#include "keeper/gno/genesis.h"
#include "keeper/gno/header.h"
#include "storage/bptree/simple_merkle.h"

namespace blockreplay::keeper::gno::testing {
namespace {

storage::bptree::TreeOptions InPlace() {
  storage::bptree::TreeOptions options;
  options.persist = storage::bptree::Persist::kDeferred;
  options.retain_history = false;
  return options;
}

}  // namespace

std::optional<std::string_view> TreeStore::Get(std::string_view key) {
  absl::StatusOr<std::optional<std::string_view>> value = tree_->Find(key);
  if (!value.ok()) throw sdk::StorageFailure(value.status());
  return *value;
}

std::unique_ptr<storage::Iterator> TreeStore::NewIterator(const storage::KeyRange& range,
                                                          storage::Direction direction) {
  return tree_->NewIterator(range, direction);
}

NativeChain::NativeChain(TxRules rules)
    : rules_(rules),
      tree_(*storage::bptree::Tree::Open(&engine_, InPlace(), 0)),
      main_store_(tree_.get()),
      base_store_(&engine_),
      runner_(rules) {}

sdk::MultiStore* NativeChain::NewPhase() {
  if (phase_ != nullptr) phase_->Write();
  phase_ = std::make_unique<sdk::MultiStore>(block_.get());
  return phase_.get();
}

absl::Status NativeChain::InitChain(const tendermint::abci::RequestInitChain& request) {
  chain_id_ = request.chain_id();
  max_gas_ = request.consensus_params().block().max_gas();
  const absl::Status direct = tree_->Set(kConsensusParamsKey, EncodeConsensusParams(request));
  if (!direct.ok()) return direct;
  block_ =
      std::make_unique<sdk::MultiStore>(std::vector<sdk::BaseStore*>{&base_store_, &main_store_});
  BranchState branch(&NewPhase()->store(kMain));
  Scratch scratch;
  TxState state(&scratch);
  state.Reset(&branch);
  const absl::Status status = gno::InitChain(request, {.state = &state, .scratch = &scratch});
  state.Flush();
  return status;
}

void NativeChain::BeginBlock(const tendermint::abci::RequestFinalizeBlock& request) {
  request_ = request;
  // The caches of block 1 were made before genesis was flushed.
  estimated_depth_ = EstimatedDepth(tree_->size());
  if (block_ == nullptr) {
    block_ =
        std::make_unique<sdk::MultiStore>(std::vector<sdk::BaseStore*>{&base_store_, &main_store_});
  }
  block_meter_ = max_gas_ > 0 ? GasMeter::Limited(max_gas_) : GasMeter::Infinite();
}

TxResult NativeChain::DeliverTx(std::string_view tx) {
  BranchState branch(&NewPhase()->store(kMain));
  return runner_.Run(tx, {.mode = Mode::kDeliver,
                          .chain_id = chain_id_,
                          .height = request_.height(),
                          .time = request_.time().seconds(),
                          .max_gas = max_gas_,
                          .estimated_depth = estimated_depth_,
                          .state = &branch,
                          .block_meter = &block_meter_});
}

absl::Status NativeChain::EndBlock() {
  sdk::MultiStore* const phase = NewPhase();
  BranchState branch(&phase->store(kMain));
  Scratch scratch;
  TxState state(&scratch);
  state.Reset(&branch);
  const absl::Status status =
      gno::EndBlock({.state = &state, .scratch = &scratch}, block_meter_.consumed(), max_gas_);
  state.Flush();
  last_header_ = EncodeHeader(request_, chain_id_, last_header_, app_hash_);
  phase->store(kBase).Set(kLastHeaderKey, *last_header_);
  return status;
}

absl::StatusOr<storage::Hash> NativeChain::Commit() {
  phase_->Write();
  phase_.reset();
  for (const auto& [key, operation] : block_->store(kMain).operations()) {
    const absl::Status status =
        operation.deleted ? tree_->Delete(key) : tree_->Set(key, operation.value);
    if (!status.ok()) return status;
  }
  block_.reset();
  storage::WriteBatch batch;
  absl::StatusOr<storage::Hash> root = tree_->Commit(&batch);
  if (!root.ok()) return root;
  app_hash_ = storage::bptree::SimpleMapHash(
      {{"base", ""},
       {"main", std::string(reinterpret_cast<const char*>(root->data()), root->size())}});
  return *app_hash_;
}

CommittedBlock NativeChain::committed() const {
  return {.chain_id = chain_id_,
          .height = request_.height(),
          .time = request_.time().seconds(),
          .max_gas = max_gas_,
          .keys = tree_->size()};
}

}  // namespace blockreplay::keeper::gno::testing
