#include "keeper/gno/gnoland.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "keeper/gno/checker.h"
#include "keeper/gno/consensus_params.h"
#include "keeper/gno/describe.h"
#include "keeper/gno/end_block.h"
#include "keeper/gno/genesis.h"
#include "keeper/gno/header.h"
#include "keeper/gno/signature_batch.h"
#include "keeper/sdk/str_cat.h"

namespace blockreplay::keeper::gno {
namespace {

const std::vector<std::string>& StoreNames() {
  static const auto* const names = new std::vector<std::string>{"base", "main"};
  return *names;
}

PhaseResult ResultOf(TxResult result) {
  PhaseResult phase;
  phase.code = result.error == Error::kNone ? 0 : 1;
  phase.codespace = std::string(TypeUrl(result.error));
  phase.gas_wanted = result.gas_wanted;
  phase.gas_used = result.gas_used;
  phase.log = std::move(result.log);
  return phase;
}

// What leaves the unit as a status: state that can't be read, and what the original panics at.
template <typename Run>
auto Guard(Run&& run) -> decltype(run()) {
  try {
    return run();
  } catch (const sdk::StorageFailure& failure) {
    return failure.status();
  } catch (const sdk::Panic& panic) {
    return absl::InternalError(
        sdk::StrCat("the state transition panics: ", std::string(panic.message())));
  }
}

absl::StatusOr<int64_t> StoredMaxGas(std::optional<std::string_view> params) {
  if (!params.has_value()) return absl::InternalError("the state has no consensus_params");
  const std::optional<int64_t> max_gas = MaxGasOf(*params);
  if (!max_gas.has_value()) return absl::InternalError("the stored consensus_params are malformed");
  return *max_gas;
}

class GnoTxChecker final : public TxChecker {
 public:
  GnoTxChecker(std::string chain_id, const CheckOptions& options, storage::WorkerPool* workers)
      : chain_id_(std::move(chain_id)), checker_(options, workers) {}

  absl::Status Committed(const CommittedState& committed,
                         const std::vector<sdk::BaseStore*>& stores) override {
    return Guard([&]() -> absl::Status {
      const std::optional<std::string_view> bytes = stores[kBaseStore]->Get(kLastHeaderKey);
      const std::optional<HeaderFacts> header =
          bytes.has_value() ? ParseHeader(*bytes) : std::nullopt;
      if (!header.has_value()) {
        return absl::InternalError("the state has no last_header, or a malformed one");
      }
      const absl::StatusOr<int64_t> max_gas =
          StoredMaxGas(stores[kMainStore]->Get(kConsensusParamsKey));
      if (!max_gas.ok()) return max_gas.status();
      checker_.Committed({.chain_id = chain_id_,
                          .height = header->height,
                          .time = header->time,
                          .max_gas = *max_gas,
                          .keys = committed.keys[kMainStore]},
                         stores[kMainStore]);
      return absl::OkStatus();
    });
  }

  void Announce(const std::vector<std::string_view>& txs) override { checker_.Announce(txs); }

  absl::StatusOr<PhaseResult> CheckTx(std::string_view tx) override {
    return Guard([&]() -> absl::StatusOr<PhaseResult> {
      TxResult result = checker_.Check(tx);
      if (result.not_native) return absl::UnimplementedError("messages to the virtual machine");
      return ResultOf(std::move(result));
    });
  }

 private:
  const std::string chain_id_;
  Checker checker_;
};

class Gnoland final : public Chain {
 public:
  Gnoland(std::string chain_id, TxRules rules)
      : chain_id_(std::move(chain_id)), rules_(rules), runner_(rules) {}

  const std::vector<std::string>& store_names() const override { return StoreNames(); }

  void UseWorkers(storage::WorkerPool* workers) override {
    workers_ = workers;
    signatures_.emplace(workers, nullptr);
  }

  void SetCommitted(CommittedState committed) override { committed_ = std::move(committed); }

  absl::Status InitChain(const tendermint::abci::RequestInitChain& request, sdk::MultiStore* direct,
                         sdk::MultiStore* state) override {
    if (request.chain_id() != chain_id_) {
      return absl::InvalidArgumentError(sdk::StrCat("genesis is of the chain ", request.chain_id(),
                                                    ", the recording of ", chain_id_));
    }
    return Guard([&]() -> absl::Status {
      direct->store(kMainStore).Set(kConsensusParamsKey, EncodeConsensusParams(request));
      return OnTxState(state,
                       [&](const Context& context) { return gno::InitChain(request, context); });
    });
  }

  absl::Status StartBlock(const tendermint::abci::RequestFinalizeBlock& request) override {
    request_ = &request;
    out_of_step_ = false;
    return absl::OkStatus();
  }

  absl::StatusOr<PhaseResult> BeginBlock(sdk::MultiStore* state) override {
    return Guard([&]() -> absl::StatusOr<PhaseResult> {
      const absl::StatusOr<int64_t> max_gas =
          StoredMaxGas(state->store(kMainStore).Get(kConsensusParamsKey));
      if (!max_gas.ok()) return max_gas.status();
      max_gas_ = *max_gas;
      block_meter_ = max_gas_ > 0 ? GasMeter::Limited(max_gas_) : GasMeter::Infinite();
      return PhaseResult();
    });
  }

  absl::StatusOr<PhaseResult> DeliverTx(int index, sdk::MultiStore* state) override {
    return Guard([&]() -> absl::StatusOr<PhaseResult> {
      if (out_of_step_) return OutOfStep();
      BranchState main(&state->store(kMainStore));
      const std::string& tx = request_->txs(index);
      if (signatures_.has_value()) {
        if (index == 0) {
          signatures_->Prepare({request_->txs().begin(), request_->txs().end()}, chain_id_, &main);
        }
        signatures_->StartTx(tx);
      }
      TxResult result =
          runner_.Run(tx, {.mode = Mode::kDeliver,
                           .chain_id = chain_id_,
                           .height = request_->height(),
                           .time = request_->time().seconds(),
                           .max_gas = max_gas_,
                           .estimated_depth = EstimatedDepth(committed_.keys[kMainStore]),
                           .state = &main,
                           .block_meter = &block_meter_,
                           .signatures = signatures_.has_value() ? &*signatures_ : nullptr});
      if (result.not_native) {
        out_of_step_ = true;
        return absl::UnimplementedError("messages to the virtual machine");
      }
      return ResultOf(std::move(result));
    });
  }

  absl::StatusOr<PhaseResult> EndBlock(sdk::MultiStore* state) override {
    return Guard([&]() -> absl::StatusOr<PhaseResult> {
      if (out_of_step_) return OutOfStep();
      const absl::Status status = OnTxState(state, [&](const Context& context) {
        return gno::EndBlock(context, block_meter_.consumed(), max_gas_);
      });
      if (!status.ok()) return status;
      sdk::StoreBranch& base = state->store(kBaseStore);
      std::optional<std::string> previous;
      if (const auto bytes = base.Get(kLastHeaderKey)) previous = std::string(*bytes);
      std::optional<storage::Hash> app_hash;
      if (committed_.app_hash.size() == sizeof(storage::Hash)) {
        std::copy(committed_.app_hash.begin(), committed_.app_hash.end(),
                  app_hash.emplace().begin());
      }
      base.Set(kLastHeaderKey, EncodeHeader(*request_, chain_id_, previous, app_hash));
      return PhaseResult();
    });
  }

  absl::StatusOr<std::unique_ptr<TxChecker>> NewTxChecker(const TxCheckOptions& options) override {
    return std::make_unique<GnoTxChecker>(
        chain_id_,
        CheckOptions{.rules = rules_,
                     .memo_params = options.memo_params,
                     .memo_fee_collector = options.memo_fee_collector,
                     .signature_cache = options.signature_cache},
        workers_);
  }

  std::vector<std::string> missing_phases() const override { return {}; }

  std::string DescribeTx(std::string_view tx) const override { return gno::DescribeTx(tx); }
  std::string DescribeKey(std::string_view store, std::string_view key) const override {
    return DescribeStoredKey(store, key);
  }
  std::string DescribeValue(std::string_view store, std::string_view key,
                            std::string_view value) const override {
    return DescribeStoredValue(store, key, value);
  }

 private:
  // The block's gas is not known any more, and everything behind depends on it.
  static absl::Status OutOfStep() {
    return absl::UnimplementedError("what follows a message to the virtual machine in its block");
  }

  // Runs what writes to the main store free of gas.
  template <typename Run>
  static absl::Status OnTxState(sdk::MultiStore* state, Run&& run) {
    BranchState main(&state->store(kMainStore));
    Scratch scratch;
    TxState tx_state(&scratch);
    tx_state.Reset(&main);
    const absl::Status status = run(Context{.state = &tx_state, .scratch = &scratch});
    tx_state.Flush();
    return status;
  }

  const std::string chain_id_;
  const TxRules rules_;
  TxRunner runner_;
  storage::WorkerPool* workers_ = nullptr;
  std::optional<SignatureBatch> signatures_;  // with workers
  CommittedState committed_{.app_hash = {}, .keys = {0, 0}};
  // Of the block.
  const tendermint::abci::RequestFinalizeBlock* request_ = nullptr;
  int64_t max_gas_ = -1;
  GasMeter block_meter_ = GasMeter::Infinite();
  bool out_of_step_ = false;
};

}  // namespace

std::unique_ptr<Chain> NewGnoland(const ChainSpec& spec) {
  return std::make_unique<Gnoland>(spec.chain_id, TxRules{.setparam_hook = spec.setparam_memos});
}

}  // namespace blockreplay::keeper::gno
