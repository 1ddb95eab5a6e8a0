#include "replay/mempool/mempool_run.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "keeper/chain.h"
#include "profiling/labels.h"
#include "profiling/thread_clock.h"
#include "replay/engine/checktx_verifier.h"
#include "replay/engine/database_dir.h"
#include "replay/engine/interrupt.h"
#include "replay/engine/measurement.h"
#include "replay/engine/native_state.h"
#include "replay/engine/profiling_session.h"
#include "replay/engine/replay_state.h"
#include "replay/mempool/list_mempool.h"
#include "replay/mempool/tx_feed.h"
#include "replay/native/chain_spec.h"
#include "replay/recording/block_source.h"
#include "replay/recording/sha256.h"
#include "replay/report/csv.h"
#include "replay/report/version.h"
#include "replay/stats/phase_scope.h"
#include "replay/verify/block_verifier.h"
#include "storage/multistore/worker_pool.h"

namespace blockreplay::replay {
namespace {

class MempoolRunner {
 public:
  MempoolRunner(const MempoolOptions& options, const RunPlan& plan, const std::string& command_line,
                const profiling::InstructionCounter* instructions)
      : options_(options), plan_(plan), command_line_(command_line), measurement_(instructions) {
    RunFacts& facts = result_.facts;
    facts.recording_digest = plan.digest;
    facts.chain_id = plan.manifest.chain_id;
    facts.options = OptionsToJson(plan.options);
    facts.options["threads"] = plan.threads;
    facts.options["depth"] = options.depth;
    facts.options["block_txs"] = options.block_txs;
    facts.options["blocks"] = options.blocks;
    facts.options["refill"] = options.refill;
  }

  MempoolResult Run() {
    result_.error = MakeBlocks();
    measurement_.Stop();
    if (csv_) Note(csv_->Finish());
    if (profiles_ != nullptr) {
      Note(profiles_->Finish());
      result_.profiles = profiles_->files();
    }
    result_.facts.app_hash_chain = RawOf(app_hash_chain_.Finish());
    result_.statistics = measurement_.statistics();
    result_.mempool.pool_at_end = static_cast<int64_t>(pool_.size());
    return std::move(result_);
  }

 private:
  void Note(const absl::Status& status) {
    if (!status.ok()) result_.problems.push_back(std::string(status.message()));
  }
  bool Stopping() {
    result_.signal = InterruptGuard::Received();
    return result_.signal != 0 || !result_.mismatch.empty();
  }

  absl::Status MakeBlocks() {
    if (plan_.threads > 1) {
      workers_ = std::make_unique<storage::WorkerPool>(plan_.threads, "executor");
    }
    absl::StatusOr<std::unique_ptr<keeper::Chain>> chain =
        keeper::NewChain(ChainSpecOf(plan_.manifest));
    if (!chain.ok()) return chain.status();
    chain_ = *std::move(chain);
    if (workers_ != nullptr) chain_->UseWorkers(workers_.get());
    absl::StatusOr<std::unique_ptr<keeper::TxChecker>> checker =
        chain_->NewTxChecker(TxCheckOptionsOf(options_.run));
    if (!checker.ok()) return checker.status();
    checker_ = *std::move(checker);
    block_state_ = std::make_unique<NativeState>(chain_->store_names());
    check_state_ = std::make_unique<NativeState>(chain_->store_names());

    const DatabaseInfo info{plan_.digest, plan_.manifest.chain_id, NameOf(options_.run.persist)};
    absl::StatusOr<DatabaseDir> dir = DatabaseDir::CreateTemporary(info);
    if (!dir.ok()) return dir.status();
    result_.started = true;
    if (!options_.run.csv.empty()) {
      absl::StatusOr<CsvFile> csv = CsvFile::Create(options_.run.csv);
      if (!csv.ok()) return csv.status();
      csv_ = std::make_unique<CsvFile>(*std::move(csv));
    }
    absl::StatusOr<std::unique_ptr<ReplayState>> state =
        ReplayState::Open(plan_, &*dir, [](const storage::SnapshotProgress&) {
          return InterruptGuard::Received() == 0 ? absl::OkStatus()
                                                 : absl::CancelledError("interrupted");
        });
    if (absl::IsCancelled(state.status()) && Stopping()) return absl::OkStatus();
    if (!state.ok()) return state.status();
    multistore_ = (*state)->multistore();

    // A chain's first transactions need its first block.
    BlockSource source(options_.run.recording, plan_.manifest, plan_.manifest.first_height);
    if (multistore_->version() == 0) {
      if (absl::Status status = MakeFirstBlock(&source); !status.ok()) return status;
      if (Stopping()) return absl::OkStatus();
    }
    feed_ =
        std::make_unique<TxFeed>(options_.run.recording, plan_.manifest, multistore_->version());
    if (absl::Status status = ResetChecks(); !status.ok()) return status;
    if (absl::Status status = Fill(); !status.ok()) return status;
    result_.mempool.pool_after_fill = static_cast<int64_t>(pool_.size());

    if (ProfilingSession::Wanted(plan_.options)) {
      absl::StatusOr<std::unique_ptr<ProfilingSession>> profiles = ProfilingSession::Start(
          plan_.options, {absl::StrCat("recording ", plan_.digest),
                          absl::StrCat("blockreplay ", ToolVersion(), " ", ToolRevision()),
                          absl::StrCat("command ", command_line_)});
      if (!profiles.ok()) return profiles.status();
      profiles_ = *std::move(profiles);
    }
    measurement_.Start((*state)->engine(), multistore_, &source, workers_.get());
    absl::Status status;
    for (int64_t i = 0; i < options_.blocks && status.ok() && !Stopping(); ++i) {
      status = MakeNextBlock();
    }
    // What is still being written belongs to the blocks.
    measurement_.clock().Enter(Phase::kCommit);
    if (const absl::Status synced = multistore_->Sync(); status.ok()) status = synced;
    measurement_.Stop();
    if (profiles_ != nullptr) profiles_->StopSampling();
    return status;
  }

  // The recorded first block, with genesis; its app hash is the recording's.
  absl::Status MakeFirstBlock(BlockSource* source) {
    const absl::StatusOr<std::unique_ptr<DecodedBlock>> first = source->Next();
    if (!first.ok()) return first.status();
    if (*first == nullptr) return absl::InternalError("the recording has no block");
    const v1::Block& block = ***first;
    block_state_->Start(multistore_, block.has_init_chain());
    if (block.has_init_chain()) {
      if (absl::Status status =
              chain_->InitChain(block.init_chain(), block_state_->genesis(), block_state_->block());
          !status.ok()) {
        return status;
      }
    }
    absl::StatusOr<storage::CommitInfo> info = Execute(block.request());
    if (!info.ok()) return info.status();
    const std::string app_hash = storage::ToRaw(storage::AppHash(*info));
    if (const auto mismatch = CompareAppHash(block, *info, app_hash)) {
      result_.mismatch = DescribeMismatch(*mismatch, block);
      return absl::OkStatus();
    }
    return Commit(app_hash);
  }

  absl::Status MakeNextBlock() {
    absl::StatusOr<tendermint::abci::RequestFinalizeBlock> request =
        feed_->RequestOf(multistore_->version() + 1);
    if (!request.ok()) return request.status();
    // Neither waiting for the recording nor what refilled the pool belongs to the block.
    PhaseClock& clock = measurement_.clock();
    clock.Forget();
    const profiling::ScopedHeight label(request->height());
    if (profiles_ != nullptr) profiles_->StartBlock(1, request->height());

    const int64_t start = profiling::MonotonicNanos();
    for (const std::string_view tx : pool_.Reap(static_cast<size_t>(options_.block_txs))) {
      request->add_txs(std::string(tx));
    }
    block_state_->Start(multistore_, /*genesis=*/false);
    absl::StatusOr<storage::CommitInfo> info = Execute(*request);
    if (!info.ok()) return info.status();
    if (absl::Status status = Commit(storage::ToRaw(storage::AppHash(*info))); !status.ok())
      return status;
    const int64_t committed = profiling::MonotonicNanos();
    {
      const PhaseScope phase(&clock, Phase::kCheckTx);
      const int64_t cpu_start = profiling::ThreadCpuNanos();
      for (const std::string& tx : request->txs()) pool_.Remove(tx);
      if (absl::Status status = Recheck(); !status.ok()) return status;
      result_.mempool.recheck_cpu_nanos += profiling::ThreadCpuNanos() - cpu_start;
    }
    const int64_t end = profiling::MonotonicNanos();
    result_.mempool.execute_ms.push_back(static_cast<double>(committed - start) / 1e6);
    result_.mempool.recheck_ms.push_back(static_cast<double>(end - committed) / 1e6);
    if (absl::Status status = FinishBlock(*request); !status.ok()) return status;
    if (!options_.refill) return absl::OkStatus();
    measurement_.Suspend();
    absl::Status status = Fill();
    measurement_.Resume();
    return status;
  }

  absl::Status FinishBlock(const tendermint::abci::RequestFinalizeBlock& request) {
    RunFacts& facts = result_.facts;
    if (facts.first_height == 0) facts.first_height = request.height();
    facts.last_height = request.height();
    double block_ms = 0;
    if (csv_ == nullptr) {
      block_ms = measurement_.FinishBlock();
    } else {
      BlockRecord record;
      record.height = request.height();
      record.txs = request.txs_size();
      for (const keeper::sdk::MultiStore* branch : block_state_->branches()) {
        for (size_t i = 0; i < branch->size(); ++i) {
          for (const auto& [key, operation] :
               branch->store(static_cast<keeper::sdk::StoreId>(i)).operations()) {
            ++(operation.deleted ? record.deletes : record.sets);
            record.change_set_bytes += static_cast<int64_t>(key.size() + operation.value.size());
          }
        }
      }
      record.app_hash = facts.app_hash;
      block_ms = measurement_.FinishBlock(&record);
      if (absl::Status status = csv_->Append(record); !status.ok()) return status;
    }
    if (profiles_ == nullptr || !profiles_->FinishBlock(request.height(), block_ms)) {
      return absl::OkStatus();
    }
    measurement_.Suspend();
    absl::Status status = profiles_->WriteDue();
    measurement_.Resume();
    return status;
  }

  // Executes a block on block_state_ and puts it into the multistore; what its version will be.
  absl::StatusOr<storage::CommitInfo> Execute(
      const tendermint::abci::RequestFinalizeBlock& request) {
    PhaseClock* const clock = &measurement_.clock();
    const auto located = [&](const absl::Status& status) {
      return absl::Status(status.code(),
                          absl::StrCat("block ", request.height(), ": ", status.message()));
    };
    chain_->SetCommitted(CommittedStateOf(*multistore_, chain_->store_names()));
    if (absl::Status status = chain_->StartBlock(request); !status.ok()) return located(status);
    const auto run = [&](auto&& phase) -> absl::StatusOr<keeper::PhaseResult> {
      keeper::sdk::MultiStore branch(block_state_->block());
      absl::StatusOr<keeper::PhaseResult> result = phase(&branch);
      if (result.ok()) branch.Write();
      return result;
    };
    {
      const PhaseScope phase(clock, Phase::kBeginBlock);
      const auto result =
          run([&](keeper::sdk::MultiStore* state) { return chain_->BeginBlock(state); });
      if (!result.ok()) return located(result.status());
    }
    {
      const PhaseScope phase(clock, Phase::kDeliverTx);
      for (int i = 0; i < request.txs_size(); ++i) {
        const auto result =
            run([&](keeper::sdk::MultiStore* state) { return chain_->DeliverTx(i, state); });
        if (!result.ok()) return located(result.status());
        ++result_.mempool.delivered;
        result_.mempool.delivered_gas_used += result->gas_used;
        if (result->code != 0) ++result_.mempool.delivered_failed;
      }
    }
    {
      const PhaseScope phase(clock, Phase::kEndBlock);
      const auto result =
          run([&](keeper::sdk::MultiStore* state) { return chain_->EndBlock(state); });
      if (!result.ok()) return located(result.status());
    }
    {
      const PhaseScope phase(clock, Phase::kApply);
      if (absl::Status status = block_state_->Apply(); !status.ok()) return located(status);
    }
    const PhaseScope phase(clock, Phase::kHash);
    absl::StatusOr<storage::CommitInfo> info = multistore_->WorkingCommit(
        storage::BlockTime{request.time().seconds(), request.time().nanos()});
    if (!info.ok()) return located(info.status());
    return info;
  }

  absl::Status Commit(const std::string& app_hash) {
    const PhaseScope phase(&measurement_.clock(), Phase::kCommit);
    if (absl::Status status = multistore_->Commit(); !status.ok()) return status;
    result_.facts.app_hash = app_hash;
    app_hash_chain_.Update(app_hash);
    ++result_.facts.blocks_verified;
    return absl::OkStatus();
  }

  // The check state is the committed one.
  absl::Status ResetChecks() {
    check_state_->Start(multistore_, /*genesis=*/false);
    return checker_->Committed(CommittedStateOf(*multistore_, chain_->store_names()),
                               check_state_->stores());
  }

  // True if the transaction passes.
  absl::StatusOr<bool> Check(std::string_view tx, CheckCounts* counts, std::vector<double>* times) {
    const int64_t start = workers_ == nullptr ? profiling::MonotonicNanos() : 0;
    const absl::StatusOr<keeper::PhaseResult> result = checker_->CheckTx(tx);
    if (workers_ == nullptr) {
      times->push_back(static_cast<double>(profiling::MonotonicNanos() - start) / 1e3);
    }
    if (!result.ok()) return result.status();
    ++counts->total;
    if (result->code != 0) {
      ++counts->failures[result->codespace];
      return false;
    }
    counts->gas_used += result->gas_used;
    return true;
  }

  absl::Status Fill() {
    while (static_cast<int64_t>(pool_.size()) < options_.depth && InterruptGuard::Received() == 0) {
      const absl::StatusOr<std::optional<std::string>> tx = feed_->Next();
      if (!tx.ok()) return tx.status();
      if (!tx->has_value()) {
        return absl::FailedPreconditionError(
            absl::StrCat("the recording's transactions fill the pool to ", pool_.size(),
                         " only: give a smaller --depth"));
      }
      const absl::StatusOr<bool> passes =
          Check(**tx, &result_.mempool.checks, &result_.mempool.check_us);
      if (!passes.ok()) return passes.status();
      if (*passes) pool_.Add(**tx);
    }
    return absl::OkStatus();
  }

  // What remains after a commit, in the order of the pool; what fails now is dropped.
  absl::Status Recheck() {
    if (absl::Status status = ResetChecks(); !status.ok()) return status;
    const std::vector<std::string_view> txs = pool_.Reap(std::numeric_limits<size_t>::max());
    checker_->Announce(txs);
    for (const std::string_view tx : txs) {
      const absl::StatusOr<bool> passes =
          Check(tx, &result_.mempool.rechecks, &result_.mempool.recheck_us);
      if (!passes.ok()) return passes.status();
      if (!*passes) dropped_.push_back(tx);
    }
    for (const std::string_view tx : dropped_) pool_.Remove(tx);
    dropped_.clear();
    return absl::OkStatus();
  }

  const MempoolOptions& options_;
  const RunPlan& plan_;
  const std::string& command_line_;
  MempoolResult result_;
  Measurement measurement_;
  Sha256 app_hash_chain_;
  std::unique_ptr<storage::WorkerPool> workers_;  // null with one thread
  std::unique_ptr<keeper::Chain> chain_;
  std::unique_ptr<keeper::TxChecker> checker_;
  std::unique_ptr<NativeState> block_state_;
  std::unique_ptr<NativeState> check_state_;
  std::unique_ptr<CsvFile> csv_;
  std::unique_ptr<ProfilingSession> profiles_;
  storage::Multistore* multistore_ = nullptr;
  std::unique_ptr<TxFeed> feed_;
  ListMempool pool_;
  std::vector<std::string_view> dropped_;
};

}  // namespace

absl::StatusOr<RunPlan> PlanMempool(const MempoolOptions& options) {
  RunOptions run = options.run;
  run.exec = ExecutionMode::kNative;
  // What is checked of them there is checked here.
  run.checktx = false;
  run.no_memo.clear();
  run.signature_cache = 0;
  absl::StatusOr<RunPlan> plan = PlanRun(run);
  if (!plan.ok()) return plan;
  plan->options.no_memo = options.run.no_memo;
  plan->options.signature_cache = options.run.signature_cache;
  return plan;
}

MempoolResult RunMempool(const MempoolOptions& options, const RunPlan& plan,
                         const std::string& command_line,
                         const profiling::InstructionCounter* instructions) {
  return MempoolRunner(options, plan, command_line, instructions).Run();
}

}  // namespace blockreplay::replay
