#include "keeper/gno/testing/native_chain.h"

#include <cstdlib>
#include <utility>

#include "keeper/gno/consensus_params.h"
#include "storage/bptree/simple_merkle.h"

namespace blockreplay::keeper::gno::testing {
namespace {

storage::bptree::TreeOptions InPlace() {
  storage::bptree::TreeOptions options;
  options.persist = storage::bptree::Persist::kDeferred;
  options.retain_history = false;
  return options;
}

ChainSpec Spec(const std::string& chain_id) {
  ChainSpec spec;
  spec.chain_id = chain_id;
  spec.setparam_memos = true;
  return spec;
}

absl::Status Apply(const sdk::StoreBranch& branch, storage::Store* to) {
  for (const auto& [key, operation] : branch.operations()) {
    const absl::Status status = operation.deleted ? to->Delete(key) : to->Set(key, operation.value);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
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

NativeChain::NativeChain(const std::string& chain_id, storage::WorkerPool* workers)
    : chain_id_(chain_id),
      tree_(*storage::bptree::Tree::Open(&engine_, InPlace(), 0)),
      main_store_(tree_.get()),
      chain_(NewGnoland(Spec(chain_id))) {
  if (workers != nullptr) chain_->UseWorkers(workers);
}

void NativeChain::NewBlock() {
  base_store_ = std::make_unique<sdk::ReaderStore>(&engine_);
  direct_ = std::make_unique<sdk::MultiStore>(
      std::vector<sdk::BaseStore*>{base_store_.get(), &main_store_});
  block_ = std::make_unique<sdk::MultiStore>(direct_.get());
}

sdk::MultiStore* NativeChain::NewPhase() {
  if (phase_ != nullptr) phase_->Write();
  phase_ = std::make_unique<sdk::MultiStore>(block_.get());
  return phase_.get();
}

absl::Status NativeChain::InitChain(const tendermint::abci::RequestInitChain& request) {
  NewBlock();
  return chain_->InitChain(request, direct_.get(), NewPhase());
}

void NativeChain::BeginBlock(const tendermint::abci::RequestFinalizeBlock& request) {
  request_ = request;
  if (block_ == nullptr) NewBlock();
  chain_->SetCommitted({.app_hash = app_hash_, .keys = {0, tree_->size()}});
  if (!chain_->StartBlock(request_).ok() || !chain_->BeginBlock(NewPhase()).ok()) std::abort();
}

absl::StatusOr<PhaseResult> NativeChain::DeliverTx(int index) {
  return chain_->DeliverTx(index, NewPhase());
}

absl::Status NativeChain::EndBlock() { return chain_->EndBlock(NewPhase()).status(); }

absl::StatusOr<storage::Hash> NativeChain::Commit() {
  phase_->Write();
  phase_.reset();
  for (const sdk::MultiStore* branch : {direct_.get(), block_.get()}) {
    if (absl::Status status = Apply(branch->store(kMainStore), tree_.get()); !status.ok()) {
      return status;
    }
  }
  storage::WriteBatch batch;
  for (const auto& [key, operation] : block_->store(kBaseStore).operations()) {
    batch.Put(key, operation.value);
  }
  block_.reset();
  absl::StatusOr<storage::Hash> root = tree_->Commit(&batch);
  if (!root.ok()) return root;
  if (absl::Status status = engine_.Write(batch, storage::Durability::kProcessCrash); !status.ok())
    return status;
  const storage::Hash app_hash = *storage::bptree::SimpleMapHash(
      {{"base", ""},
       {"main", std::string(reinterpret_cast<const char*>(root->data()), root->size())}});
  app_hash_.assign(app_hash.begin(), app_hash.end());
  return app_hash;
}

absl::StatusOr<storage::Hash> NativeChain::Execute(
    const tendermint::abci::RequestFinalizeBlock& request) {
  BeginBlock(request);
  for (int i = 0; i < request.txs_size(); ++i) {
    const absl::StatusOr<PhaseResult> result = DeliverTx(i);
    if (!result.ok()) return result.status();
  }
  if (absl::Status status = EndBlock(); !status.ok()) return status;
  return Commit();
}

CommittedBlock NativeChain::committed() const {
  const std::optional<int64_t> max_gas = MaxGasOf(**tree_->Find(kConsensusParamsKey));
  return {.chain_id = chain_id_,
          .height = request_.height(),
          .time = request_.time().seconds(),
          .max_gas = *max_gas,
          .keys = tree_->size()};
}

}  // namespace blockreplay::keeper::gno::testing
